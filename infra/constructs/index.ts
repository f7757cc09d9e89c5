/** Constructs for a CDK app of one's own: `@schemaless-store/schemaless/cdk`. */
export type { ExportFunction } from './export-function.ts';
export type { ExportOptions } from './export-function.ts';
export type { GivenDatastore } from './given-definitions.ts';
export { SchemalessService, type SchemalessServiceProps } from './service.ts';
export { SchemalessStorage, type SchemalessStorageProps } from './storage.ts';
export { SchemalessStore, type SchemalessStoreProps } from './store.ts';
export { SchemalessDatastore, type ConsumerOptions } from './store-datastore.ts';
export type { StoreEnvironment } from './store-environment.ts';
export type { StoreOptions } from './store-options.ts';
export type { FunctionCode } from './function-code.ts';
export type { TriggerOptions } from './given-definitions.ts';
export type { TriggerQueue } from './trigger-queue.ts';

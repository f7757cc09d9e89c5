/** What `import … from 'schemaless'` gives. */
export { schemalessClient, type SchemalessClient } from './client.ts';
export type { ClientOptions, UnsignedRequest } from './options.ts';
export { retryBudget, type RetryBudget } from './retry-budget.ts';
export { ERRORS, SchemalessError, type ErrorCode, type ErrorDetails, type Retry } from '../errors.ts';
export { LIMITS } from '../cell.ts';
export { shardDatabase, shardOf } from '../shard.ts';
export type * from '../cell.ts';
export type * from '../contract/datastore.ts';
export type * from '../contract/index-query.ts';
export type * from '../contract/index-status.ts';
export type * from '../contract/trigger-operations.ts';

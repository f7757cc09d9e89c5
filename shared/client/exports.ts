export { schemalessClient, type SchemalessClient } from './client.ts';
export type { CallLimits, ClientOptions, UnsignedRequest } from './options.ts';
export type { CellToPut, Numbered, Outcome } from './cell-writes.ts';
export type { Confirmed } from '../confirmed.ts';
export type { ConfirmedTransaction } from '../confirmed-transaction.ts';
export type { Transaction } from './transactions.ts';
export type { PutAllResult, PutEnd } from './batch-writer.ts';
export { putAll, PutAllError, tryPutAll, type PutAllOptions } from './put-all.ts';
export { getAll, type GetAllOptions } from './get-all.ts';
export { queryAll, versions } from './pages.ts';
export { tail, type TailedCell, type TailOffset, type TailOptions } from './tail.ts';
export { defineDatastore } from './datastore-definition.ts';
export {
  openDatastore,
  type BatchItemOf,
  type FoundOf,
  type OpenedDatastore,
  type OpenOptions,
  type PageOf,
  type TransactionOf,
} from './open-datastore.ts';
export type * from './datastore-definition.ts';
export type * from './declared-index.ts';
export type { InputOf, OutputOf, StandardSchema } from './standard-schema.ts';
export { retryBudget, type RetryBudget } from './retry-budget.ts';
export { ERRORS, SchemalessError, type ErrorCode, type ErrorDetails, type Retry } from '../errors.ts';
export { LIMITS } from '../cell.ts';
export { shardDatabase, shardOf } from '../address.ts';
export type * from '../cell.ts';
export type {
  BatchItem,
  Found,
  LogOptions,
  Page,
  ReadOptions,
  RowOptions,
  ShardDigest,
  ShardHead,
  ShardLog,
  VersionsOptions,
} from '../contract/datastore.ts';
export type {
  CountQuery,
  Explanation,
  FieldValue,
  IndexAnswer,
  IndexCounted,
  IndexEntry,
  Query,
} from '../contract/index-query.ts';
export type { FieldCondition, Operator, Where } from '../where.ts';
export type { IndexOperations, IndexStatus } from '../api/indexes.ts';

/** What models give to who installs them. */
export { defineModel, type Model, type Partition } from './model.ts';
export { unchecked } from './unchecked.ts';
export { ModelError, type ModelErrorCode } from './model-error.ts';
export { MODEL_NAMESPACE } from './row-key.ts';
export type * from './declaration.ts';
export type { DeclaredIndex, FieldCondition, FieldTypes, ShardFieldEquals, Where } from '../client/declared-index.ts';
export type { FindOptions, FoundRecords } from './found-records.ts';
export type { ModelCell } from './model-cell.ts';
export type { CellJson, Changes, SaveOptions } from './model-column.ts';
export type { ModelIndex, ShardValue } from './model-index.ts';
export type { ModelRecord } from './model-record.ts';
export type { LatestCells, LoggedCell, LogLocation } from './model-shards.ts';

import type { Cell, CellAddress, CellKey, Json, NewCell, Served } from '../cell.ts';
import type { Confirmed } from '../confirmed.ts';
import type { BatchItem, Found, Page, ReadOptions, RowOptions, VersionsOptions } from '../contract/datastore.ts';
import type { CountQuery, IndexAnswer, IndexCounted, IndexEntry, Query } from '../contract/index-query.ts';
import { invalidField, type SchemalessError } from '../errors.ts';
import type { CellToPut, Numbered, Outcome } from './cell-writes.ts';
import { schemalessClient, type ColumnKey, type SchemalessClient } from './client.ts';
import type {
  CellOf,
  ColumnOf,
  DatastoreDefinition,
  EntryOf,
  FieldOf,
  IndexOf,
  KeyOf,
  NewCellOf,
  QueryOf,
} from './datastore-definition.ts';
import { getAll, type GetAllOptions } from './get-all.ts';
import type { CallLimits, ClientOptions } from './options.ts';
import { queryAll } from './pages.ts';
import { putAll, tryPutAll, type PutAllOptions } from './put-all.ts';
import { tail, type TailOffset, type TailOptions } from './tail.ts';
import { beginTransaction, type Transaction } from './transactions.ts';
import { validate } from './standard-schema.ts';

export interface OpenOptions extends Omit<ClientOptions, 'datastore'>, ReadChecks {}

interface ReadChecks {
  /** Validates bodies on reads too: `invalid_body` is thrown, or is the cell's `error` in lists. @default false */
  readonly validateReads?: boolean | undefined;
}

type Many<Item> = Iterable<Item> | AsyncIterable<Item>;
type Addressed<Cell> = Cell & { readonly ref_key: number };

/** A datastore whose cells, queries and messages have the types of its definition. Calls behave as a client's. */
export interface OpenedDatastore<D extends DatastoreDefinition> {
  readonly definition: D;
  /** The untyped client, for undeclared columns and all other calls. */
  readonly client: SchemalessClient;
  /** Returns the same datastore with limits for its calls. */
  with(limits: CallLimits): OpenedDatastore<D>;
  /**
   * Validates the body, and writes the validator's output; without a ref key, at the next one of the column. Throws
   * SchemalessError `invalid_body` before it sends anything.
   */
  put<Column extends ColumnOf<D>>(cell: NewCellOf<D, Column>): Promise<Numbered<Confirmed>>;
  /** As `put`, but returns what was not confirmed as an outcome. */
  tryPut<Column extends ColumnOf<D>>(cell: NewCellOf<D, Column>): Promise<Outcome>;
  /** As `putAll`; a cell with an invalid body fails alone. */
  putAll(cells: Many<Addressed<NewCellOf<D>>>, options?: PutAllOptions): ReturnType<typeof putAll>;
  tryPutAll(cells: Many<Addressed<NewCellOf<D>>>, options?: PutAllOptions): ReturnType<typeof tryPutAll>;
  /** As a client's; `commit` validates the bodies first. */
  transaction(rowKey: string): TransactionOf<D>;
  get<Column extends ColumnOf<D>>(
    address: Addressed<KeyOf<Column>>,
    options?: ReadOptions,
  ): Promise<FoundOf<D, Column>>;
  getLatest<Column extends ColumnOf<D>>(key: KeyOf<Column>, options?: ReadOptions): Promise<FoundOf<D, Column>>;
  /** Returns up to 100 cells, or latest cells, in the order of the keys. */
  batchGet<Column extends ColumnOf<D>>(
    keys: readonly BatchKeyOf<Column>[],
    options?: Pick<ReadOptions, 'read' | 'sealed'>,
  ): Promise<readonly BatchItemOf<D, Column>[]>;
  getAll<Column extends ColumnOf<D>>(
    keys: readonly BatchKeyOf<Column>[],
    options?: GetAllOptions,
  ): Promise<readonly BatchItemOf<D, Column>[]>;
  versions<Column extends ColumnOf<D>>(
    key: KeyOf<Column>,
    options?: VersionsOptions,
  ): Promise<PageOf<CellOf<D, Column>, number>>;
  /** Returns the latest cells of columns of a row. @default all declared columns */
  row<Column extends ColumnOf<D> = ColumnOf<D>>(
    rowKey: string,
    options?: Omit<RowOptions, 'columns'> & { readonly columns?: readonly Column[] },
  ): Promise<PageOf<CellOf<D, Column>, string>>;
  query<
    Index extends IndexOf<D>,
    Field extends FieldOf<D, Index> = FieldOf<D, Index>,
    Column extends ColumnOf<D> = never,
  >(
    index: Index,
    query: QueryOf<D, Index, Field, Column>,
  ): Promise<Omit<IndexAnswer, 'entries'> & { readonly entries: readonly EntryOf<D, Index, Field, Column>[] }>;
  /** Yields all entries of a query; `limit` is that of a page. */
  queryAll<
    Index extends IndexOf<D>,
    Field extends FieldOf<D, Index> = FieldOf<D, Index>,
    Column extends ColumnOf<D> = never,
  >(
    index: Index,
    query: QueryOf<D, Index, Field, Column>,
  ): AsyncGenerator<EntryOf<D, Index, Field, Column>, void>;
  count<Index extends IndexOf<D>>(
    index: Index,
    query: Pick<QueryOf<D, Index>, 'where' | 'read' | 'limit'>,
  ): Promise<IndexCounted>;
  /** As `tail`; skips cells of undeclared columns, and erasures of rows. */
  tail(options?: TailOptions): AsyncGenerator<{ readonly cell: CellOf<D>; readonly offset: TailOffset }, void>;
}

/** A transaction of a row whose columns and bodies have the types of the definition. */
export interface TransactionOf<D extends DatastoreDefinition> extends Pick<Transaction, 'commit' | 'tryCommit'> {
  put<Column extends ColumnOf<D>>(column: Column, refKey: number, body: NewCellOf<D, Column>['body']): TransactionOf<D>;
  ifLatest(column: ColumnOf<D>, refKey: number | null): TransactionOf<D>;
}

export interface FoundOf<D extends DatastoreDefinition, Column extends ColumnOf<D>> extends Served {
  readonly cell: CellOf<D, Column> | null;
}

type BatchKeyOf<Column> = KeyOf<Column> & { readonly ref_key?: number | undefined };

/** A cell, null, or the error of this item alone. */
export type BatchItemOf<D extends DatastoreDefinition, Column extends ColumnOf<D>> =
  | (CellOf<D, Column> & Served)
  | null
  | { readonly error: SchemalessError; readonly row_key?: undefined };

export interface PageOf<Item, Next> extends Served {
  readonly cells: readonly Item[];
  readonly next: Next | null;
}

/**
 * Opens a datastore by its definition.
 *
 * ```ts
 * const store = openDatastore(trips, { url: 'http://127.0.0.1:4000' });
 * await store.put({ row_key, column_name: 'BASE', body: { driver_partner_uuid, fare: 12.5 } });
 * ```
 */
export function openDatastore<D extends DatastoreDefinition>(
  definition: D,
  { validateReads = false, ...options }: OpenOptions,
): OpenedDatastore<D> {
  const client = schemalessClient({ ...options, datastore: definition.name });
  return overClient(definition, client, { validateReads });
}

/** Opens the datastore of a client. */
export function overClient<D extends DatastoreDefinition>(
  definition: D,
  client: SchemalessClient,
  checks: ReadChecks = {},
): OpenedDatastore<D> {
  return untyped(definition, client, checks) as unknown as OpenedDatastore<D>;
}

type Validate = <Given extends { readonly column_name: string; readonly body: unknown }>(
  cell: Given,
) => Promise<Given & { readonly body: Json }>;

function validWrites(client: SchemalessClient, validated: Validate) {
  return {
    put: async (cell: CellToPut) => client.put(await validated(cell)),
    tryPut: async (cell: CellToPut) => client.tryPut(await validated(cell)),
    putAll: (cells: Many<NewCell>, options?: PutAllOptions) => putAll(client, cells, options, validated),
    tryPutAll: (cells: Many<NewCell>, options?: PutAllOptions) => tryPutAll(client, cells, options, validated),
    transaction: (row_key: string) =>
      beginTransaction((given) => client.transact(given), { row_key, cells: [], if: [] }, validated),
  };
}

function untyped(definition: DatastoreDefinition, client: SchemalessClient, { validateReads }: ReadChecks) {
  const { columns } = definition;
  const schemaOf = (column: string): (typeof columns)[string] => {
    const schema = Object.hasOwn(columns, column) ? columns[column] : undefined;
    // For programs without type checks.
    if (schema === undefined)
      throw invalidField('column_name', `a column that is declared: ${Object.keys(columns).join(', ')}`, column);
    return schema;
  };
  const validated = async <Given extends { readonly column_name: string; readonly body: unknown }>(cell: Given) => ({
    ...cell,
    body: await validate(schemaOf(cell.column_name), cell.body),
  });
  const read = async <Given extends Cell>(cell: Given): Promise<Given> =>
    validateReads && (cell.error ?? cell.erased ?? cell.erasure ?? cell.forgotten) === undefined
      ? validated(cell)
      : cell;
  const readOrError = <Given extends Cell>(cell: Given): Promise<Given> =>
    read(cell).catch((error) => ({ ...cell, body: null, error }));
  const found = async ({ cell, ...served }: Found): Promise<Found> => ({ cell: cell && (await read(cell)), ...served });
  const page = async <Next>(some: Page<Next>): Promise<Page<Next>> =>
    validateReads ? { ...some, cells: await Promise.all(some.cells.map(readOrError)) } : some;
  const entry = async (one: IndexEntry): Promise<IndexEntry> =>
    Array.isArray(one.cells) ? { ...one, cells: await Promise.all(one.cells.map(readOrError)) } : one;
  const items = (some: readonly BatchItem[]): Promise<readonly BatchItem[]> =>
    Promise.all(some.map(async (item) => (item !== null && 'row_key' in item ? readOrError(item) : item)));
  const checkKeys = (keys: readonly CellKey[]): void => keys.forEach((key) => schemaOf(key.column_name));

  return {
    definition,
    client,
    with: (limits: CallLimits) => untyped(definition, client.with(limits), { validateReads }),
    ...validWrites(client, validated),
    async get(address: CellAddress, options?: ReadOptions) {
      schemaOf(address.column_name);
      return found(await client.get(address, options));
    },
    async getLatest(key: ColumnKey, options?: ReadOptions) {
      schemaOf(key.column_name);
      return found(await client.getLatest(key, options));
    },
    async batchGet(keys: readonly CellKey[], options?: Pick<ReadOptions, 'read' | 'sealed'>) {
      checkKeys(keys);
      return items(await client.batchGet(keys, options));
    },
    async getAll(keys: readonly CellKey[], options?: GetAllOptions) {
      checkKeys(keys);
      return items(await getAll(client, keys, options));
    },
    async versions(key: ColumnKey, options?: VersionsOptions) {
      schemaOf(key.column_name);
      return page(await client.versions(key, options));
    },
    row: async (rowKey: string, options?: RowOptions) =>
      page(await client.row(rowKey, { columns: Object.keys(columns), ...options })),
    async query(index: string, query: Omit<Query, 'index'>) {
      const answer = await client.query({ ...query, index });
      return { ...answer, entries: validateReads ? await Promise.all(answer.entries.map(entry)) : answer.entries };
    },
    async *queryAll(index: string, query: Omit<Query, 'index'>) {
      for await (const one of queryAll(client, { ...query, index })) yield await entry(one);
    },
    count: (index: string, query: Omit<CountQuery, 'index'>) => client.count({ ...query, index }),
    async *tail(options?: TailOptions) {
      for await (const { cell, offset } of tail(client, options))
        if (Object.hasOwn(columns, cell.column_name)) yield { cell: await readOrError(cell), offset };
    },
  };
}

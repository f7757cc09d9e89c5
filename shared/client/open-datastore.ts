import type { Cell, CellAddress, PutResult, Served } from '../cell.ts';
import type { Found, Page, ReadOptions, RowOptions, VersionsOptions } from '../contract/datastore.ts';
import type { IndexAnswer, IndexEntry, IndexQuery } from '../contract/index-query.ts';
import { toConditions } from './conditions.ts';
import { invalidField } from '../errors.ts';
import { schemalessClient, type SchemalessClient } from './client.ts';
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
import type { ClientOptions } from './options.ts';
import { tail, type TailOffset, type TailOptions } from './tail.ts';
import { validate } from './standard-schema.ts';

export interface OpenOptions extends Omit<ClientOptions, 'datastore'> {
  /** Validates bodies on reads too: `invalid_body` is thrown, or is the cell's `error` in `tail`. @default false */
  readonly validateReads?: boolean;
}

/** A datastore whose cells, queries and messages have the types of its definition. */
export interface OpenedDatastore<D extends DatastoreDefinition> {
  readonly definition: D;
  /** The same without types, for columns that are not declared, and for all else that a client does. */
  readonly client: SchemalessClient;
  /**
   * Validates the body, and writes what the validator gives; without a ref key at the next one of the column. Throws
   * SchemalessError `invalid_body` before anything is sent.
   */
  put<Column extends ColumnOf<D>>(cell: NewCellOf<D, Column>): Promise<PutResult & { readonly ref_key: number }>;
  get<Column extends ColumnOf<D>>(
    address: KeyOf<Column> & { readonly ref_key: number },
    options?: ReadOptions,
  ): Promise<FoundOf<D, Column>>;
  getLatest<Column extends ColumnOf<D>>(key: KeyOf<Column>, options?: ReadOptions): Promise<FoundOf<D, Column>>;
  versions<Column extends ColumnOf<D>>(
    key: KeyOf<Column>,
    options?: VersionsOptions,
  ): Promise<PageOf<CellOf<D, Column>, number>>;
  /** The latest cells of columns of a row. @default all that are declared */
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
  /** As `tail`; cells of columns that are not declared are passed over, and so are erasures of rows. */
  tail(options?: TailOptions): AsyncGenerator<{ readonly cell: CellOf<D>; readonly offset: TailOffset }, void>;
}

export interface FoundOf<D extends DatastoreDefinition, Column extends ColumnOf<D>> extends Served {
  readonly cell: CellOf<D, Column> | null;
}

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
  return overClient(definition, client, validateReads) as unknown as OpenedDatastore<D>;
}

type Key = KeyOf<string>;
type UntypedCell = Key & { readonly ref_key?: number; readonly body: unknown };
type UntypedQuery = Omit<IndexQuery, 'index' | 'where'> & { readonly where: Readonly<Record<string, unknown>> };

function overClient(definition: DatastoreDefinition, client: SchemalessClient, validateReads: boolean) {
  const { columns } = definition;
  const schemaOf = (column: string): (typeof columns)[string] => {
    const schema = Object.hasOwn(columns, column) ? columns[column] : undefined;
    // For programs that the compiler does not check.
    if (schema === undefined)
      throw invalidField('column_name', `a column that is declared: ${Object.keys(columns).join(', ')}`, column);
    return schema;
  };
  const read = async (cell: Cell): Promise<Cell> =>
    validateReads && (cell.error ?? cell.erased ?? cell.erasure ?? cell.forgotten) === undefined
      ? { ...cell, body: await validate(schemaOf(cell.column_name), cell.body) }
      : cell;
  const found = async ({ cell, ...served }: Found): Promise<Found> => ({ cell: cell && (await read(cell)), ...served });
  const page = async <Next>(found: Page<Next>): Promise<Page<Next>> =>
    validateReads ? { ...found, cells: await Promise.all(found.cells.map(read)) } : found;
  const entry = async (one: IndexEntry): Promise<IndexEntry> =>
    Array.isArray(one.cells) ? { ...one, cells: await Promise.all(one.cells.map(read)) } : one;

  return {
    definition,
    client,
    async put({ row_key, column_name, ref_key, body: given }: UntypedCell) {
      const body = await validate(schemaOf(column_name), given);
      if (ref_key === undefined) return client.putNext({ row_key, column_name, body });
      return { ...(await client.put({ row_key, column_name, ref_key, body })), ref_key };
    },
    async get(address: CellAddress, options?: ReadOptions) {
      schemaOf(address.column_name);
      return found(await client.get(address, options));
    },
    async getLatest(key: Key, options?: ReadOptions) {
      schemaOf(key.column_name);
      return found(await client.getLatest(key, options));
    },
    async versions(key: Key, options?: VersionsOptions) {
      schemaOf(key.column_name);
      return page(await client.versions(key, options));
    },
    row: async (rowKey: string, options?: RowOptions) =>
      page(await client.row(rowKey, { columns: Object.keys(columns), ...options })),
    async query(index: string, { where, ...query }: UntypedQuery) {
      const answer = await client.query({ index, ...query, where: toConditions(where) });
      return { ...answer, entries: validateReads ? await Promise.all(answer.entries.map(entry)) : answer.entries };
    },
    async *tail(options?: TailOptions) {
      for await (const { cell, offset } of tail(client, options))
        if (Object.hasOwn(columns, cell.column_name))
          yield { cell: await read(cell).catch((error) => ({ ...cell, body: null, error })), offset };
    },
  };
}

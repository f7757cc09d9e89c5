import type { NewCell } from '../cell.ts';
import type { Confirmed } from '../confirmed.ts';
import type {
  Datastore,
  Found,
  LogOptions,
  Page,
  ReadOptions,
  RowOptions,
  VersionsOptions,
} from '../contract/datastore.ts';
import { cellReads } from './cell-reads.ts';
import { cellWrites, type CellToPut, type Numbered, type Outcome } from './cell-writes.ts';
import type { BoundedConnection } from './calls.ts';
import { boundedBy } from './bounds.ts';
import { connect } from './connection.ts';
import { indexCalls, type IndexCalls } from './index-calls.ts';
import { logCalls } from './log-calls.ts';
import type { CallLimits, ClientOptions } from './options.ts';
import { ownWrites, type OwnWrites } from './own-writes.ts';
import { transactions, type Transaction } from './transactions.ts';

/** The key of a column in a row. */
export type ColumnKey = Parameters<Datastore['getLatest']>[0];

/** A datastore over HTTP. Reads, and the calls that the contract has, behave as `Datastore` says. */
export interface SchemalessClient
  extends Pick<Datastore, 'name' | 'batchPut' | 'transact' | 'batchRestore' | 'heads' | 'digest'>, IndexCalls {
  /**
   * Writes a cell; without a ref key, at the next one of its column, as `putNext`. Throws SchemalessError unless the
   * write is confirmed: `unavailable` (it may be stored: repeat it at `details.address`), `conflict`, `erased` and
   * `subject_forgotten`.
   */
  put(cell: CellToPut): Promise<Numbered<Confirmed>>;
  /** As `put`, but returns these four as outcomes. Throws if it sent no write, as when the next ref key is unknown. */
  tryPut(cell: CellToPut): Promise<Outcome>;
  /**
   * Writes a cell at the column's next ref key: the latest one plus 1, or 0 if the column is empty. If another writer
   * takes that ref key first, tries the next one. Throws `erased` if the whole column was erased, or versions up to a
   * higher one.
   *
   * Not for bodies that may be equal: two writers that add an equal body at the same moment add one cell. While the
   * column's primary is down, two writers may get the same ref key, since `buffered` cells are not readable yet. One of
   * the two is then kept as a conflict.
   *
   * **Do not repeat it as it is** after an error with `details.address`: the cell may be stored twice. Repeat the write
   * as a `put` at that address. An error without an address has written nothing.
   */
  putNext(cell: Omit<NewCell, 'ref_key'>): Promise<Numbered<Confirmed>>;
  /**
   * Begins a transaction: several cells of one row, written all or none.
   *
   * ```ts
   * await orders.transaction(row).put('ORDER', 4, order).put('OUTBOX', 17, event).ifLatest('ORDER', 3).commit();
   * ```
   */
  transaction(rowKey: string): Transaction;
  get(address: Parameters<Datastore['get']>[0], options?: ReadOptions): Promise<Found>;
  getLatest(key: ColumnKey, options?: ReadOptions): Promise<Found>;
  versions(key: ColumnKey, options?: VersionsOptions): Promise<Page<number>>;
  row(rowKey: string, options?: RowOptions): Promise<Page<string>>;
  batchGet(
    keys: Parameters<Datastore['batchGet']>[0],
    options?: Pick<ReadOptions, 'read' | 'sealed'>,
  ): ReturnType<Datastore['batchGet']>;
  log(locations: Parameters<Datastore['log']>[0], options?: LogOptions): ReturnType<Datastore['log']>;
  /** Returns the same client with limits for its calls: a signal, a deadline, or both. Both share their state. */
  with(limits: CallLimits): SchemalessClient;
}

/**
 * Returns a client of one datastore. It needs no closing; any number of callers may use it at once.
 *
 * It retries requests, with growing, random pauses, if no answer came or the server says that a retry may help. Then it
 * throws the SchemalessError that the server named, or `unavailable` if no answer came. It does not retry single items
 * of a batch, and returns an outcome for each: `putAll` and `getAll` retry them.
 *
 * ```ts
 * const trips = schemalessClient({ url: 'http://127.0.0.1:4000', datastore: 'trips' });
 * await trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: { city: 'Lisbon' } });
 * const { cell } = await trips.with({ deadlineMs: 2000 }).getLatest({ row_key, column_name: 'BASE' });
 * ```
 */
export function schemalessClient(options: ClientOptions): SchemalessClient {
  const send = connect(options);
  return clientOver({ name: options.datastore, send, own: options.readOwnWrites === true ? ownWrites() : undefined });
}

interface ClientParts {
  readonly name: string;
  readonly send: BoundedConnection;
  readonly own?: OwnWrites | undefined;
}

export function clientOver(parts: ClientParts, limits?: CallLimits): SchemalessClient {
  const send = limits === undefined ? parts.send : boundedBy(parts.send, limits);
  const reads = cellReads(send, parts.own);
  return {
    name: parts.name,
    ...cellWrites(send, parts.own, reads.getLatest),
    ...transactions(send, parts.own),
    ...reads,
    ...logCalls(send),
    ...indexCalls(send),
    with: (more) => clientOver({ ...parts, send }, more),
  };
}

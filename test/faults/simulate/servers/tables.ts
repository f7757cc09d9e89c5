import { hash } from 'node:crypto';
import { decodeBody } from '../../../../shared/body/codec.ts';
import type { Json } from '../../../../shared/cell.ts';

/** The tables of one simulated server, and their possible changes. A server's readers go through the same changes. */

/** A row of an `entity` table. Immutable, so that servers may share it. */
export interface KeptCell {
  readonly shard: number;
  readonly added_id: number;
  /** `addressOf` its columns. */
  readonly address: string;
  readonly rowKey: Uint8Array;
  readonly columnName: Uint8Array;
  readonly ref_key: number;
  readonly body: Uint8Array;
  /** SHA-256. */
  readonly bodyHash: Uint8Array;
  /** Microseconds since 1970. */
  readonly createdAt: number;
  /** The same as SQL writes it. */
  readonly createdText: string;
}

/** The values that a statement binds for a cell. */
type BoundCell = readonly [rowKey: Uint8Array, columnName: Uint8Array, ref_key: number, body: Uint8Array];

export function keptCell(
  shard: number,
  [rowKey, columnName, ref_key, body]: BoundCell,
  { added_id, createdAt }: Pick<KeptCell, 'added_id' | 'createdAt'>,
): KeptCell {
  const address = addressOf(rowKey, columnName, ref_key);
  const createdText = toSqlText(createdAt);
  return {
    shard,
    added_id,
    address,
    rowKey,
    columnName,
    ref_key,
    body,
    bodyHash: hashOf(body),
    createdAt,
    createdText,
  };
}

/** The cells of a shard in the order of their added ids. */
export interface KeptLog {
  readonly cells: KeptCell[];
  readonly byAddress: Map<string, KeptCell>;
}

export interface ShardRow {
  readonly epoch: number;
  readonly state: 'open' | 'closed';
  /** The server known to have every acknowledged cell. */
  readonly writerId: number;
  /** The end of its log, and the time of its last cell in microseconds since 1970. @default unknown */
  readonly end?: { readonly epoch: number; readonly head: number; readonly at: number };
}

export interface BufferedRow {
  readonly id: number;
  readonly datastore: string;
  readonly shard: number;
  readonly address: string;
  readonly rowKey: Uint8Array;
  readonly columnName: Uint8Array;
  readonly ref_key: number;
  readonly body: Uint8Array;
  readonly bodyHash: Uint8Array;
  readonly createdAt: number;
  readonly state: 'waiting' | 'conflict' | 'parked' | 'in_doubt';
  /** Ids in hexadecimal. */
  readonly writers: readonly string[];
  /** Those of them that were answered `buffered`. */
  readonly answered: readonly string[];
  /** Its body may be in the log. */
  readonly isShown: boolean;
  readonly attempts: number;
}

export interface Tables {
  readonly shards: Map<number, ShardRow>;
  readonly logs: Map<number, KeptLog>;
  /** The rows by id, in the order of the ids. */
  readonly buffer: Map<number, BufferedRow>;
  /** The ids by the unique key `copy`. */
  readonly copies: Map<string, number>;
  nextBufferId: number;
}

/** The effect of a statement, as its readers repeat it. */
export type TableChange =
  | { readonly kind: 'appended'; readonly shard: number; readonly cells: readonly KeptCell[] }
  | { readonly kind: 'shard'; readonly shard: number; readonly row: ShardRow }
  | { readonly kind: 'buffered'; readonly row: BufferedRow }
  | { readonly kind: 'unbuffered'; readonly row: BufferedRow };

export function emptyTables(): Tables {
  return { shards: new Map(), logs: new Map(), buffer: new Map(), copies: new Map(), nextBufferId: 1 };
}

/** Returns tables that change without the others: as a transaction sees them before its commit. */
export function copyOf({ shards, logs, buffer, copies, nextBufferId }: Tables): Tables {
  return {
    shards: new Map(shards),
    logs: new Map(logs),
    buffer: new Map(buffer),
    copies: new Map(copies),
    nextBufferId,
  };
}

/** Applies a change to such a copy, which shares the logs of the others until it appends to them. */
export function applyToCopy(tables: Tables, change: TableChange): void {
  if (change.kind === 'appended') {
    const { cells, byAddress } = logOf(tables, change.shard);
    tables.logs.set(change.shard, { cells: [...cells], byAddress: new Map(byAddress) });
  }
  applyChange(tables, change);
}

export function applyChange(tables: Tables, change: TableChange): void {
  switch (change.kind) {
    case 'appended': {
      const log = logOf(tables, change.shard);
      for (const cell of change.cells) {
        log.cells.push(cell);
        log.byAddress.set(cell.address, cell);
      }
      return;
    }
    case 'shard':
      logOf(tables, change.shard);
      tables.shards.set(change.shard, change.row);
      return;
    case 'buffered':
      tables.buffer.set(change.row.id, change.row);
      tables.copies.set(copyKey(change.row), change.row.id);
      tables.nextBufferId = Math.max(tables.nextBufferId, change.row.id + 1);
      return;
    case 'unbuffered':
      tables.buffer.delete(change.row.id);
      tables.copies.delete(copyKey(change.row));
  }
}

function logOf(tables: Tables, shard: number): KeptLog {
  let log = tables.logs.get(shard);
  if (!log) tables.logs.set(shard, (log = { cells: [], byAddress: new Map() }));
  return log;
}

export function copyKey(row: Pick<BufferedRow, 'datastore' | 'address' | 'bodyHash'>): string {
  return `${row.datastore}/${row.address}=${Buffer.from(row.bodyHash).toString('latin1')}`;
}

/** Returns the name of a cell. */
export function addressOf(rowKey: Uint8Array, columnName: Uint8Array, refKey: number): string {
  return `${Buffer.from(rowKey).toString('hex')}/${refKey}/${Buffer.from(columnName).toString('latin1')}`;
}

function hashOf(body: Uint8Array): Uint8Array {
  return hash('sha256', body, 'buffer');
}

const decoded = new WeakMap<Uint8Array, Json>();

export function valueOf(body: Uint8Array): Json {
  let value = decoded.get(body);
  if (value === undefined) decoded.set(body, (value = decodeBody(body)));
  return value;
}

/** `2026-01-31 08:00:00.123456` */
export function toSqlText(microseconds: number): string {
  const text = new Date(Math.floor(microseconds / 1000)).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 23)}${String(Math.floor(microseconds % 1000)).padStart(3, '0')}`;
}

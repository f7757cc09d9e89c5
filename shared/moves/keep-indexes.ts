import type { DynamoTable } from '../dynamo/table.ts';
import { noteVerified } from '../index/repair/verified-epochs.ts';
import { indexTableName, type PhysicalIndex } from '../index/index-table.ts';
import { copyDatabase, shardDatabase } from '../address.ts';
import { bringEntries, pruneEntries } from './copy-indexes.ts';
import type { MovingClients } from './copy-log.ts';
import type { EntryCursor, Move } from './move-item.ts';
import type { EntryKey } from './statements/raw-entries.ts';

interface IndexSettings {
  /** As in `MoveSettings`. */
  readonly announcedMs?: number;
  readonly indexedForMs?: number;
  readonly turnMs?: number;
}

interface KeptIndexes extends IndexSettings {
  readonly clients: MovingClients;
  readonly indexes: readonly PhysicalIndex[];
  /** The copy is to become the shard soon. */
  readonly isWanted: boolean;
  readonly signal: AbortSignal;
}

const INDEXED_FOR_MS = 60_000;

const tableOf = ({ name, hash }: PhysicalIndex): string => indexTableName(name, hash);

/** Whether the copy had all entries a while ago, and has got those that came since. */
export function hasAllIndexes(
  { indexed, indexed_at }: Move,
  indexes: readonly PhysicalIndex[],
  { indexedForMs = INDEXED_FOR_MS }: IndexSettings,
): boolean {
  return (
    indexes.length === 0 ||
    (Date.now() - indexed_at < indexedForMs && indexes.every((index) => indexed.includes(tableOf(index))))
  );
}

/**
 * Brings the entries of a shard's index tables to those of its copy, as far as the time of a turn goes; where it was
 * switched, first those that were written to the former shard alone, by who had not heard of it.
 *
 * Entries are written to both from the moment on that writers know of the copy, but nobody answers for the copy's: what
 * it lacks nevertheless, it gets here, and after a switch.
 */
export async function keepIndexes(given: Move, kept: KeptIndexes): Promise<Move> {
  const { announcedMs = 3000, indexedForMs = INDEXED_FOR_MS, turnMs = 1000, indexes, clients, isWanted } = kept;
  if (Date.now() - given.announced_at < announcedMs) return given;
  const isOld = given.indexed_at > 0 && Date.now() - given.indexed_at >= indexedForMs;
  let move: Move = isOld && isWanted ? { ...given, indexed: [], indexed_at: 0, cursor: null } : given;
  const until = performance.now() + turnMs;
  const mayGoOn = (): boolean => !kept.signal.aborted && performance.now() < until;
  const [shard, copy] = [shardDatabase(move.datastore, move.shard), copyDatabase(move.datastore, move.shard)];
  const there = { from: clients.source, fromDatabase: shard, to: clients.target, toDatabase: copy };
  const back = { from: clients.target, fromDatabase: copy, to: clients.source, toDatabase: shard };

  // Nobody asks for the entries of an index that is gone.
  const tables = new Set(indexes.map(tableOf));
  if (!move.owed.every((table) => tables.has(table)))
    move = { ...move, owed: move.owed.filter((table) => tables.has(table)) };
  for (const index of indexes) {
    const table = tableOf(index);
    if (!move.owed.includes(table)) continue;
    const next = await bringEntries(back, index, beginOf(move, `owed/${table}`), mayGoOn);
    if (next) return { ...move, cursor: cursorOf(`owed/${table}`, next) };
    move = { ...move, cursor: null, owed: move.owed.filter((one) => one !== table) };
  }
  for (const index of indexes) {
    const table = tableOf(index);
    if (move.indexed.includes(table)) continue;
    if (move.cursor?.task !== `brought/${table}`) {
      const next = await pruneEntries(there, index, beginOf(move, `pruned/${table}`), mayGoOn);
      if (next) return { ...move, cursor: cursorOf(`pruned/${table}`, next) };
    }
    const next = await bringEntries(there, index, beginOf(move, `brought/${table}`), mayGoOn);
    if (next) return { ...move, cursor: cursorOf(`brought/${table}`, next) };
    move = { ...move, cursor: null, indexed: [...move.indexed, table], indexed_at: Date.now() };
  }
  return move;
}

/** How long after the switch entries are copied from the former shard: half the age of purged tombstones. */
const OWED_FOR_MS = 12 * 3_600_000;

/** Drops debts that are too old, and requests a verification: the tombstone of an owed entry may be purged. */
export async function withoutOldDebts(stateTable: DynamoTable, move: Move): Promise<Move> {
  if (move.owed.length === 0 || Date.now() - move.closed_at < OWED_FOR_MS) return move;
  await noteVerified(stateTable, move.datastore, move.shard, move.epoch - 1);
  return { ...move, owed: [], cursor: null };
}

function beginOf({ cursor }: Move, task: string): EntryKey | undefined {
  if (cursor?.task !== task) return undefined;
  const { bytes, text = '', row_key } = cursor;
  return {
    f0: bytes === undefined ? text : Buffer.from(bytes, 'base64'),
    row_key: Buffer.from(row_key, 'base64'),
  };
}

function cursorOf(task: string, { f0, row_key }: EntryKey): EntryCursor {
  return {
    task,
    ...(f0 instanceof Uint8Array ? { bytes: Buffer.from(f0).toString('base64') } : { text: String(f0) }),
    row_key: Buffer.from(row_key).toString('base64'),
  };
}

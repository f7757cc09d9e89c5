import { decodeBody } from '../../shared/body/codec.ts';
import { shardDatabase } from '../../shared/shard.ts';
import { byItem, cellColumns } from '../../shared/sql/cell-rows.ts';
import type { SqlClient } from '../../shared/sql/client.ts';
import { entityTable } from '../../shared/sql/names.ts';
import { markOf } from './load/mark.ts';
import type { AckedCell } from './load/ledger.ts';
import { onEachShard } from '../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../support/store-access.ts';

/** A shard's table, as it is. */
export interface StoredLog {
  readonly shard: number;
  /** Ascending. */
  readonly ids: readonly number[];
  /** Of the cell at the same place of `ids`. */
  readonly marks: readonly number[];
  /** How often a cell's time is before that of the cell before it. */
  readonly timesBack: number;
}

/** Ids that are missing between 1 and the highest. */
export function holesIn(logs: readonly StoredLog[]): number {
  return logs.reduce((sum, { ids }) => sum + (ids.at(-1) ?? 0) - ids.length, 0);
}

/**
 * Reads the tables of all shards from the groups' writers with plain SQL, past the store: what the store said is held
 * against it.
 *
 * @throws Error when two groups own the same shard
 */
export async function storedLogs(groups: readonly GroupAccess[]): Promise<readonly StoredLog[]> {
  const logs = await onEachShard(groups, (client, shard) => storedLog(client, DATASTORE, shard));
  const all = logs.toSorted((one, other) => one.shard - other.shard);
  const twice = all.find(({ shard }, place) => all[place - 1]?.shard === shard);
  if (twice) throw new Error(`two groups own ${shardDatabase(DATASTORE, twice.shard)}`);
  return all;
}

/** Reads one table from the writer. */
export async function storedLog(client: SqlClient, datastore: string, shard: number): Promise<StoredLog> {
  const sql = `SELECT ${cellColumns(0, shard)} FROM ${entityTable(datastore, shard)} ORDER BY added_id`;
  const cells = byItem(await client.select({ sql, parameters: [] }, 'writer'), 1)[0]?.cells ?? [];
  return {
    shard,
    ids: cells.map(({ added_id }) => added_id),
    marks: cells.map((cell) => (cell.body === null ? -1 : markOf({ ...cell, body: decodeBody(cell.body) }))),
    timesBack: cells.filter(({ created_at }, place) => created_at < (cells[place - 1]?.created_at ?? '')).length,
  };
}

/** Confirmed cells held against what is stored. */
export interface Kept {
  /** Not there, or with another body. */
  readonly lost: number;
  /** There, but not at the added id that was answered. */
  readonly moved: number;
  /** The first of those that moved, as text. */
  readonly movedExamples: readonly string[];
  /** Stored more than once. */
  readonly doubled: number;
}

const EXAMPLES = 5;

export function compareKept(acked: readonly AckedCell[], logs: readonly StoredLog[]): Kept {
  const places = new Map<number, number>();
  let doubled = 0;
  for (const { ids, marks } of logs) {
    for (const [place, mark] of marks.entries()) {
      if (places.has(mark)) doubled += 1;
      places.set(mark, ids[place] ?? 0);
    }
  }
  let lost = 0;
  const moved: string[] = [];
  for (const { row_key, mark, shard, added_id } of acked) {
    const there = places.get(mark);
    if (there === undefined) lost += 1;
    else if (added_id > 0 && there !== added_id)
      moved.push(`${row_key} of shard ${shard} was answered ${added_id}, and is at ${there}`);
  }
  return { lost, moved: moved.length, movedExamples: moved.slice(0, EXAMPLES), doubled };
}

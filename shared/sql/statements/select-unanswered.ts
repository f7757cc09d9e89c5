import { rowKeyBytes } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import { toNumber } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { PLACE, toWaitingRow, type WaitingRow } from './select-buffered.ts';

/** Of copies that may be of a write that was acknowledged: also those that wait for an operator's word, and those that were set aside. */
const STATES = ['waiting', 'undecided', 'parked'];
/** Somebody may have been told that the write is stored. */
const UNANSWERED = 'answered < writers';

/**
 * The next rows of one shard, in the order of their ids, and of those that are unanswered what they are copies of.
 *
 * Rows that were answered are looked at, too, and say how far the page went: a table with millions of them is read in
 * pages of which each is small. All states in one snapshot: a row that changes its state keeps its place.
 *
 * @param after the last id looked at @default 0, the first page
 */
export function selectUnanswered(datastore: string, shard: number, after: number, limit: number): Statement {
  const ofState = (state: string): string => `(SELECT id FROM ${CONTROL}.buffer WHERE state = '${state}' AND datastore = ? AND shard = ? AND id > ? ORDER BY id LIMIT ?)`;
  return {
    sql:
      `SELECT page.id, datastore, shard, row_key, column_name, ref_key, body_hash FROM ` +
      `(SELECT id FROM (${STATES.map(ofState).join(' UNION ALL ')}) AS next ORDER BY id LIMIT ?) AS page ` +
      `LEFT JOIN ${CONTROL}.buffer AS copy ON copy.id = page.id AND ${UNANSWERED} ORDER BY page.id`,
    parameters: [...STATES.flatMap(() => [datastore, shard, after, limit]), limit],
  };
}

/** A page of a shard's rows. */
export interface UnansweredPage {
  readonly rows: readonly WaitingRow[];
  /** Where the next page begins; undefined where this is the last. */
  readonly next: number | undefined;
}

export function toUnanswered(rows: readonly SqlRow[], limit: number): UnansweredPage {
  const last = rows.at(-1);
  return { rows: rows.filter(([, datastore]) => datastore !== null).map(toWaitingRow), next: rows.length < limit || !last ? undefined : toNumber(last[0]) };
}

/** All unanswered copies at some addresses of one datastore, in no order. The key is named: it holds few rows of an address, of a shard there may be millions. */
export function selectCopies(datastore: string, addresses: readonly CellAddress[]): Statement {
  return {
    sql:
      `SELECT ${PLACE} FROM ${CONTROL}.buffer FORCE INDEX (copy) WHERE (${addresses.map(() => '(datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ?)').join(' OR ')}) ` +
      `AND state IN (${STATES.map((state) => `'${state}'`).join(', ')}) AND ${UNANSWERED}`,
    parameters: addresses.flatMap(({ row_key, column_name, ref_key }) => [datastore, rowKeyBytes(row_key), Buffer.from(column_name), ref_key]),
  };
}

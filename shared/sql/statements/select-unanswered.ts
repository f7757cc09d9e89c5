import { rowKeyBytes } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import { toNumber } from '../cell-rows.ts';
import { SqlError, type SqlRow, type Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { KEY_COLUMNS, toWaitingRow, type CopyTable, type WaitingRow } from './select-buffered.ts';

/**
 * Of copies that may be of a write that was acknowledged: also those that wait for an operator's word, and those that
 * were set aside.
 */
const STATES = ['waiting', 'undecided', 'parked'];
/** Somebody may have been told that the write is stored. */
const UNANSWERED = 'answered < writers';

/**
 * The next rows of one shard by their ids, in no order, and of those that are unanswered what they are copies of.
 *
 * Rows that were answered are looked at, too, and say how far the page went: a table with millions of them is read in
 * pages of which each is small. All states in one snapshot: a row that changes its state keeps its place.
 *
 * @param after the last id looked at @default 0, the first page
 */
export function selectUnanswered(datastore: string, shard: number, after: number, limit: number): Statement {
  const ofState = (state: string): string =>
    `(SELECT id FROM ${CONTROL}.buffer WHERE state = '${state}' AND datastore = ? AND shard = ? AND id > ? ORDER BY id LIMIT ?)`;
  return {
    sql:
      `${ROLE} UNION ALL SELECT page.id, datastore, shard, row_key, column_name, ref_key, body_hash FROM ` +
      `(SELECT id FROM (${STATES.map(ofState).join(' UNION ALL ')}) AS next ORDER BY id LIMIT ?) AS page ` +
      `LEFT JOIN ${CONTROL}.buffer AS copy ON copy.id = page.id AND ${UNANSWERED}`,
    parameters: [...STATES.flatMap(() => [datastore, shard, after, limit]), limit],
  };
}

/** The next of one shard's copies that were drained and are kept, by their ids: all of them were stored. */
export function selectDrained(datastore: string, shard: number, after: number, limit: number): Statement {
  return {
    sql: `${ROLE} UNION ALL (SELECT ${KEY_COLUMNS} FROM ${CONTROL}.drained WHERE datastore = ? AND shard = ? AND id > ? ORDER BY id LIMIT ?)`,
    parameters: [datastore, shard, after, limit],
  };
}

/**
 * One row more, of no id: whether the server takes writes. A reader, or a writer that was one until a moment ago, may
 * lack copies, and a statement that finds none would not show that it asked the wrong one.
 */
const ROLE =
  "SELECT 0 AS id, NULL AS datastore, IF(@@global.read_only IN ('0', 'OFF'), 1, 0) AS shard, NULL AS row_key, NULL AS column_name, NULL AS ref_key, NULL AS body_hash";

/** What the writer of a group answered: all but the row that says that it is the writer. */
function ofWriter(rows: readonly SqlRow[]): readonly SqlRow[] {
  const role = rows.find(([id]) => toNumber(id) === 0);
  if (toNumber(role?.[2]) !== 1) throw new SqlError('unreachable', 'who answers for the writer takes no writes');
  return rows.filter((row) => row !== role);
}

/** A page of a shard's rows. */
export interface UnansweredPage {
  readonly rows: readonly WaitingRow[];
  /** Where the next page begins; undefined where this is the last. */
  readonly next: number | undefined;
}

/** Throws `SqlError` where it is not the writer's word. */
export function toUnanswered(answer: readonly SqlRow[], limit: number): UnansweredPage {
  const rows = ofWriter(answer);
  const last = rows.reduce((highest, [id]) => Math.max(highest, toNumber(id)), 0);
  return {
    rows: rows.filter(([, datastore]) => datastore !== null).map(toWaitingRow),
    next: rows.length < limit ? undefined : last,
  };
}

/** Which rows of a table are copies of what somebody may have been told is stored. */
const ACKNOWLEDGED: Readonly<Record<CopyTable, string>> = {
  buffer: ` AND state IN (${STATES.map((state) => `'${state}'`).join(', ')}) AND ${UNANSWERED}`,
  drained: '',
};

/**
 * All copies at some addresses of one datastore that may have been acknowledged as stored, in no order. The key is
 * named: it holds few rows of an address, of a shard there may be millions.
 */
export function selectCopies(table: CopyTable, datastore: string, addresses: readonly CellAddress[]): Statement {
  return {
    sql:
      `${ROLE} UNION ALL SELECT ${KEY_COLUMNS} FROM ${CONTROL}.${table} FORCE INDEX (copy) WHERE (${addresses.map(() => '(datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ?)').join(' OR ')})` +
      ACKNOWLEDGED[table],
    parameters: addresses.flatMap(({ row_key, column_name, ref_key }) => [
      datastore,
      rowKeyBytes(row_key),
      Buffer.from(column_name),
      ref_key,
    ]),
  };
}

/** Throws `SqlError` where it is not the writer's word. */
export function toCopies(rows: readonly SqlRow[]): WaitingRow[] {
  return ofWriter(rows).map(toWaitingRow);
}

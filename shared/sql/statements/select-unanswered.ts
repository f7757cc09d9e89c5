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
/**
 * What a copy says of its write: somebody may have been told that it is stored; all were answered `buffered`; or it was
 * drained, since every node showed the cell.
 */
export type CopyKind = 'unanswered' | 'answered' | 'drained';

/** Which rows of a buffer table are copies of a kind. */
const IS: Readonly<Record<Exclude<CopyKind, 'drained'>, string>> = {
  unanswered: 'answered < writers',
  answered: 'answered >= writers',
};

export function tableOf(kind: CopyKind): CopyTable {
  return kind === 'drained' ? 'drained' : 'buffer';
}

interface CopiesPage {
  readonly datastore: string;
  readonly shard: number;
  /** The last id looked at; 0 for the first page. */
  readonly after: number;
  readonly limit: number;
}

/** The next copies of a kind: `toUnanswered` reads the answer. */
export function selectCopiesOf(kind: CopyKind, page: CopiesPage): Statement {
  return kind === 'drained' ? selectDrained(page) : selectUnanswered(page, kind);
}

/**
 * The next rows of one shard by their ids, in no order, and of those that are of a kind what they are copies of.
 *
 * Rows of the other kind are looked at, too, and say how far the page went: a table with millions of them is read in
 * pages of which each is small. All states in one snapshot: a row that changes its state keeps its place.
 */
export function selectUnanswered(
  { datastore, shard, after, limit }: CopiesPage,
  kind: Exclude<CopyKind, 'drained'> = 'unanswered',
): Statement {
  // A column more than the key has: else MySQL may step through the whole key, which it finds cheap by the statistics of
  // a table that was empty.
  const ofState = (state: string): string =>
    `(SELECT id, answered FROM ${CONTROL}.buffer FORCE INDEX (place) WHERE state = '${state}' AND datastore = ? AND shard = ? AND id > ? ORDER BY id LIMIT ?)`;
  return {
    sql:
      `${ROLE} UNION ALL SELECT page.id, datastore, shard, row_key, column_name, ref_key, body_hash FROM ` +
      `(SELECT id FROM (${STATES.map(ofState).join(' UNION ALL ')}) AS next ORDER BY id LIMIT ?) AS page ` +
      `LEFT JOIN ${CONTROL}.buffer AS copy FORCE INDEX (PRIMARY) ON copy.id = page.id AND ${IS[kind]}`,
    parameters: [...STATES.flatMap(() => [datastore, shard, after, limit]), limit],
  };
}

/** The next of one shard's copies that were drained and are kept, by their ids: all of them were stored. */
export function selectDrained({ datastore, shard, after, limit }: CopiesPage): Statement {
  return {
    sql: `${ROLE}, NULL AS created_at UNION ALL (SELECT ${KEY_COLUMNS}, created_at FROM ${CONTROL}.drained FORCE INDEX (place) WHERE datastore = ? AND shard = ? AND id > ? ORDER BY id LIMIT ?)`,
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

/** A copy; of one that was drained, also when it came to its group, by the clock of that. */
export interface TimedRow extends WaitingRow {
  readonly came_at: string;
}

/** A page of a shard's rows. */
interface UnansweredPage {
  readonly rows: readonly TimedRow[];
  /** Where the next page begins; undefined where this is the last. */
  readonly next: number | undefined;
}

/** Throws `SqlError` where it is not the writer's word. */
export function toUnanswered(answer: readonly SqlRow[], limit: number): UnansweredPage {
  const rows = ofWriter(answer);
  const last = rows.reduce((highest, [id]) => Math.max(highest, toNumber(id)), 0);
  return {
    rows: rows
      .filter(([, datastore]) => datastore !== null)
      .map((row): TimedRow => ({ ...toWaitingRow(row), came_at: String(row[7] ?? '') })),
    next: rows.length < limit ? undefined : last,
  };
}

/**
 * All copies of a kind at some addresses of one datastore, in no order. The key is named: it holds few rows of an
 * address, of a shard there may be millions.
 */
export function selectCopies(kind: CopyKind, datastore: string, addresses: readonly CellAddress[]): Statement {
  const isOfKind =
    kind === 'drained' ? '' : ` AND state IN (${STATES.map((state) => `'${state}'`).join(', ')}) AND ${IS[kind]}`;
  return {
    sql:
      `${ROLE} UNION ALL SELECT ${KEY_COLUMNS} FROM ${CONTROL}.${tableOf(kind)} FORCE INDEX (copy) WHERE (${addresses.map(() => '(datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ?)').join(' OR ')})` +
      isOfKind,
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

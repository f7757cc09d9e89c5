import { rowKeyBytes } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import { toNumber } from '../cell-rows.ts';
import { SqlError, type SqlRow, type Statement } from '../client.ts';
import { CONTROL } from '../names.ts';
import { KEY_COLUMNS, MAY_BE_STORED, toWaitingRow, type CopyTable, type WaitingRow } from './select-buffered.ts';

/** States of hints that may be of an acknowledged write, set aside or not. */
const STATES = ['waiting', 'in_doubt', 'parked'];
/**
 * `unanswered`: maybe stored. `answered`: all writers told `buffered`, never shown. `drained`: every node showed it.
 */
export type CopyKind = 'unanswered' | 'answered' | 'drained';

const IS: Readonly<Record<Exclude<CopyKind, 'drained'>, string>> = {
  unanswered: MAY_BE_STORED,
  answered: `NOT ${MAY_BE_STORED}`,
};

export function tableOf(kind: CopyKind): CopyTable {
  return kind === 'drained' ? 'drained' : 'buffer';
}

interface CopiesPage {
  readonly datastore: string;
  readonly shard: number;
  readonly after: number;
  readonly limit: number;
}

/**
 * Selects the next rows of one shard by id, and what those of the kind are hints of. Other rows count for the page too,
 * so each page of millions is small. All states are of one snapshot: a row that changes its state keeps its place.
 */
export function selectCopiesOf(kind: CopyKind, { datastore, shard, after, limit }: CopiesPage): Statement {
  if (kind === 'drained')
    return {
      sql: `${ROLE}, NULL AS created_at UNION ALL (SELECT ${KEY_COLUMNS}, created_at FROM ${CONTROL}.drained FORCE INDEX (place) WHERE datastore = ? AND shard = ? AND id > ? ORDER BY id LIMIT ?)`,
      parameters: [datastore, shard, after, limit],
    };
  // One column more than the key has: MySQL may step through the whole key otherwise, by statistics of an empty table.
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

/** One more row says whether the server takes writes: finding no hints on another one proves nothing. */
const ROLE =
  "SELECT 0 AS id, NULL AS datastore, IF(@@global.read_only IN ('0', 'OFF'), 1, 0) AS shard, NULL AS row_key, NULL AS column_name, NULL AS ref_key, NULL AS body_hash";

function ofWriter(rows: readonly SqlRow[]): readonly SqlRow[] {
  const role = rows.find(([id]) => toNumber(id) === 0);
  if (toNumber(role?.[2]) !== 1) throw new SqlError('unreachable', 'the server asked as writer takes no writes');
  return rows.filter((row) => row !== role);
}

/** A hint; `came_at` is set for drained ones, by its group's clock. */
export interface TimedRow extends WaitingRow {
  readonly came_at: string;
}

interface UnansweredPage {
  readonly rows: readonly TimedRow[];
  readonly next: number | undefined;
}

/** Throws `SqlError` if another server than the writer answered. */
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

/** Selects all hints of a kind at some addresses by the named key: a shard may have millions of rows. */
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

export function toCopies(rows: readonly SqlRow[]): WaitingRow[] {
  return ofWriter(rows).map(toWaitingRow);
}

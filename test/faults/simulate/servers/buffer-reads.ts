import type { SqlParameter, SqlRow } from '../../../../shared/sql/client.ts';
import { bound, type Execution } from './plan.ts';
import { addressOf, toSqlText, type BufferedRow } from './tables.ts';

const BUFFER = '`schemaless`.buffer';
const ROLE =
  "SELECT 0 AS id, NULL AS datastore, IF(@@global.read_only IN ('0', 'OFF'), 1, 0) AS shard, NULL AS row_key, NULL AS column_name, NULL AS ref_key, NULL AS body_hash";
const KEY_COLUMNS = 'id, datastore, shard, row_key, column_name, ref_key, body_hash';

export const MAY_BE_STORED = '(OCTET_LENGTH(answered) < OCTET_LENGTH(writers) OR shown = 1)';

interface BufferRead {
  readonly kind: string;
  readonly read: (execution: Execution) => SqlRow[];
}

/** Plans reads of pages of a buffer table. */
export function bufferRead(sql: string): BufferRead | undefined {
  if (
    /^\(?SELECT id, datastore, shard, row_key, column_name, ref_key, body_hash FROM `schemaless`\.buffer WHERE state = 'waiting' AND datastore = \? AND shard = \? AND id > \? AND id <= \? ORDER BY id LIMIT \?\)/.test(
      sql,
    )
  )
    return { kind: 'waiting', read: waiting };
  if (sql.startsWith('SELECT NULL AS datastore, 0 AS shard, 0 AS counted, COALESCE(MAX(id), 0) AS id '))
    return { kind: 'waiting shards', read: waitingShards };
  if (sql.startsWith(`SELECT ${KEY_COLUMNS}, body, created_at, stored_at FROM (SELECT id AS sized_id, `)) {
    if (sql.includes(' WHERE id IN (')) return { kind: 'buffered', read: bodies };
    if (sql.includes(' WHERE state = ? AND datastore = ? AND id > ? ')) return { kind: 'kept', read: kept };
  }
  if (
    sql.startsWith(
      `${ROLE} UNION ALL SELECT page.id, datastore, shard, row_key, column_name, ref_key, body_hash FROM (SELECT id FROM ((SELECT id, answered `,
    )
  )
    return { kind: 'unanswered', read: unanswered };
  if (
    sql.startsWith(
      `${ROLE} UNION ALL SELECT ${KEY_COLUMNS} FROM ${BUFFER} WHERE ((datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ?)`,
    )
  )
    return { kind: 'copies', read: copies };
  if (
    sql.startsWith(
      `SELECT ${KEY_COLUMNS} FROM ${BUFFER} WHERE state = 'in_doubt' AND ${MAY_BE_STORED} AND datastore = ? AND id IN (`,
    )
  )
    return { kind: 'in_doubt', read: in_doubt };
  if (
    sql === `SELECT ${KEY_COLUMNS} FROM ${BUFFER} WHERE datastore = ? AND row_key = ? AND LEFT(body, 9) = ? ORDER BY id`
  )
    return { kind: 'transaction copies', read: ofTransaction };
  if (sql === `SELECT DISTINCT datastore, shard FROM ${BUFFER} WHERE state = 'in_doubt'`)
    return { kind: 'shards in doubt', read: shardsInDoubt };
  return undefined;
}

/** The parameters of each part of the union: datastore, shard, after, up to, limit. */
function waiting({ tables, parameters }: Execution): SqlRow[] {
  const values = bound(parameters);
  const rows: SqlRow[] = [];
  while (values.left() > 0) {
    const [datastore, shard, after, upTo, limit] = values.some('text', 'number', 'number', 'number', 'number');
    const ofShard = [...tables.buffer.values()].filter(
      (row) => isWaiting(row) && row.datastore === datastore && row.shard === shard && row.id > after && row.id <= upTo,
    );
    rows.push(...ofShard.sort(byId).slice(0, limit).map(keyRow));
  }
  return rows;
}

function waitingShards({ tables }: Execution): SqlRow[] {
  const shards = new Map<string, { readonly datastore: string; readonly shard: number; rows: number; first: number }>();
  for (const row of tables.buffer.values()) {
    if (!isWaiting(row)) continue;
    const { datastore, shard, id } = row;
    const known = shards.get(`${datastore}/${shard}`);
    if (!known) shards.set(`${datastore}/${shard}`, { datastore, shard, rows: 1, first: id });
    else {
      known.rows += 1;
      known.first = Math.min(known.first, id);
    }
  }
  return [
    [null, 0, 0, Math.max(0, ...tables.buffer.keys())],
    ...[...shards.values()].map(({ datastore, shard, rows, first }): SqlRow => [datastore, shard, rows, first]),
  ];
}

function bodies({ tables, parameters }: Execution): SqlRow[] {
  return cutAt(ofIds(tables.buffer, parameters.slice(0, -1)), Number(parameters.at(-1)));
}

function kept({ tables, parameters: [state, datastore, after, limit, bytes] }: Execution): SqlRow[] {
  const isMeant = (row: BufferedRow): boolean =>
    row.state === state && (state !== 'in_doubt' || isUnanswered(row)) && row.datastore === datastore;
  const rows = [...tables.buffer.values()].filter((row) => isMeant(row) && row.id > Number(after)).sort(byId);
  return cutAt(rows.slice(0, Number(limit)), Number(bytes));
}

/** The parameters of each of three states: datastore, shard, after, limit. Answered rows return only their ids. */
function unanswered({ tables, parameters, isWritable }: Execution): SqlRow[] {
  const values = bound(parameters);
  const [datastore, shard, after, limit] = values.some('text', 'number', 'number', 'number');
  const page = [...tables.buffer.values()]
    .filter((row) => row.state !== 'conflict' && row.datastore === datastore && row.shard === shard && row.id > after)
    .sort(byId)
    .slice(0, limit);
  const nothing = [null, null, null, null, null, null];
  return [roleRow(isWritable), ...page.map((row): SqlRow => (isUnanswered(row) ? keyRow(row) : [row.id, ...nothing]))];
}

function copies({ tables, parameters, isWritable }: Execution): SqlRow[] {
  const values = bound(parameters);
  const wanted = new Set<string>();
  while (values.left() > 0)
    wanted.add(`${values.text()}/${addressOf(values.bytes(), values.bytes(), values.number())}`);
  const isMeant = (row: BufferedRow): boolean =>
    row.state !== 'conflict' && isUnanswered(row) && wanted.has(`${row.datastore}/${row.address}`);
  return [roleRow(isWritable), ...[...tables.buffer.values()].filter(isMeant).map(keyRow)];
}

function ofTransaction({ tables, parameters }: Execution): SqlRow[] {
  const values = bound(parameters);
  const [datastore, rowKey, begin] = values.some('text', 'bytes', 'bytes');
  const isMeant = (row: BufferedRow): boolean =>
    row.datastore === datastore &&
    Buffer.compare(row.rowKey, rowKey) === 0 &&
    Buffer.compare(row.body.subarray(0, begin.length), begin) === 0;
  return [...tables.buffer.values()].filter(isMeant).sort(byId).map(keyRow);
}

const roleRow = (isWritable: boolean): SqlRow => [0, null, isWritable ? 1 : 0, null, null, null, null];

function in_doubt({ tables, parameters: [datastore, ...ids] }: Execution): SqlRow[] {
  return ofIds(tables.buffer, ids)
    .filter((row) => row.state === 'in_doubt' && isUnanswered(row) && row.datastore === datastore)
    .map(keyRow);
}

function shardsInDoubt({ tables }: Execution): SqlRow[] {
  const rows = [...tables.buffer.values()].filter(({ state }) => state === 'in_doubt');
  return [...new Map(rows.map(({ datastore, shard }) => [`${datastore}/${shard}`, [datastore, shard]])).values()];
}

function cutAt(rows: readonly BufferedRow[], bytes: number): SqlRow[] {
  let before = 0;
  const fitting: SqlRow[] = [];
  for (const row of rows) {
    if (before >= bytes) break;
    fitting.push([...keyRow(row), row.body, toSqlText(row.createdAt), null]);
    before += row.body.length;
  }
  return fitting;
}

function ofIds(buffer: ReadonlyMap<number, BufferedRow>, ids: readonly SqlParameter[]): BufferedRow[] {
  return [...new Set(ids.map(Number))].sort((one, other) => one - other).flatMap((id) => buffer.get(id) ?? []);
}

export const isWaiting = ({ state }: BufferedRow): boolean => state === 'waiting';
export const isUnanswered = ({ answered, writers, isShown }: BufferedRow): boolean =>
  answered.length < writers.length || isShown;
const byId = (one: BufferedRow, other: BufferedRow): number => one.id - other.id;

function keyRow({ id, datastore, shard, rowKey, columnName, ref_key, bodyHash }: BufferedRow): SqlRow {
  return [id, datastore, shard, rowKey, columnName, ref_key, bodyHash];
}

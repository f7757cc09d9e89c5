import type { SqlParameter, SqlRow } from '../../../../shared/sql/client.ts';
import { bound, type Execution, type Plan, type Written } from './plan.ts';
import { addressOf, copyKey, toSqlText, type BufferedRow, type TableChange } from './tables.ts';

const BUFFER = '`schemaless`.buffer';
const PLACE = 'id, datastore, shard, row_key, column_name, ref_key, body_hash';

/** Everything of a buffer table. */
export function planBuffer(sql: string): Plan | undefined {
  if (!sql.includes(BUFFER)) return undefined;
  const write = (kind: string, action: (execution: Execution) => Written): Plan => ({ kind, shards: [], write: action });
  const read = (kind: string, action: (execution: Execution) => SqlRow[]): Plan => ({ kind, shards: [], read: action });
  if (sql.startsWith(`INSERT INTO ${BUFFER} (`) && sql.endsWith('ON DUPLICATE KEY UPDATE writers = writers + 1')) return write('buffer', insert);
  if (sql.startsWith(`SELECT ${PLACE} FROM ${BUFFER} WHERE state = 'waiting' AND id > ? AND created_at < SYSDATE(6) - INTERVAL ? SECOND`)) return read('waiting', waiting);
  if (sql.startsWith(`SELECT ${PLACE}, body, created_at FROM ${BUFFER} WHERE id IN (`)) return read('buffered', ({ tables, parameters }) => ofIds(tables.buffer, parameters).map(wholeRow));
  if (sql.startsWith(`SELECT ${PLACE}, body, created_at FROM ${BUFFER} WHERE state = 'conflict' AND datastore = ?`)) return read('conflicts', conflicts);
  if (sql.startsWith("SELECT COALESCE(SUM(state = 'waiting'), 0)")) return read('buffer status', status);
  if (sql.startsWith(`DELETE FROM ${BUFFER} WHERE (datastore = ?`)) return write('delete buffered', (execution) => deleted(named(execution)));
  if (sql.startsWith(`UPDATE ${BUFFER} SET state = 'conflict' WHERE state = 'waiting' AND (`)) return write('mark conflicts', (execution) => updated(named(execution).filter(isWaiting).map((row) => ({ ...row, state: 'conflict' }))));
  if (sql.startsWith(`UPDATE ${BUFFER} SET attempts = attempts + 1`)) return write('fail buffered', fail);
  if (sql.startsWith(`DELETE FROM ${BUFFER} WHERE state = 'conflict' AND datastore = ?`)) {
    return write('discard conflicts', ({ tables, parameters: [datastore, ...ids] }) => deleted(ofIds(tables.buffer, ids).filter((row) => row.state === 'conflict' && row.datastore === datastore)));
  }
  if (sql.startsWith(`UPDATE ${BUFFER} SET writers = writers - 1 WHERE writers > 0 AND (`)) return write('withdraw', (execution) => updated(named(execution).filter(({ writers }) => writers > 0).map((row) => ({ ...row, writers: row.writers - 1 }))));
  // Servers here are never promoted without their last cells, which is all that the mark is for.
  if (sql.startsWith(`UPDATE ${BUFFER} SET answered = answered + 1 WHERE (`)) return write('answer buffered', (execution) => ({ affectedRows: named(execution).length, insertId: 0, changes: [] }));
  if (sql.startsWith(`DELETE FROM ${BUFFER} WHERE writers = 0 AND (`)) return write('delete withdrawn', (execution) => deleted(named(execution).filter(({ writers }) => writers === 0)));
  return undefined;
}

function insert({ tables, parameters, now, flaws }: Execution): Written {
  const values = bound(parameters);
  const changes = new Map<number, TableChange>();
  const added = new Map<string, BufferedRow>();
  let next = tables.nextBufferId;
  while (values.left() > 0) {
    const [datastore, shard, rowKey, columnName, ref_key, body, bodyHash] = [values.text(), values.number(), values.bytes(), values.bytes(), values.number(), values.bytes(), values.bytes()];
    const address = addressOf(rowKey, columnName, ref_key);
    const key = copyKey({ datastore, address, bodyHash });
    const taken = flaws.copiesByAddress ? [...tables.buffer.values()].find((row) => row.address === address) : tables.buffer.get(tables.copies.get(key) ?? 0);
    const old = added.get(key) ?? taken;
    const row: BufferedRow = old ? { ...old, writers: old.writers + 1 } : { id: next, datastore, shard, address, rowKey, columnName, ref_key, body, bodyHash, createdAt: now, state: 'waiting', writers: 1, attempts: 0 };
    if (!old) next += 1;
    added.set(key, row);
    changes.set(row.id, { kind: 'buffered', row });
  }
  return { affectedRows: changes.size, insertId: 0, changes: [...changes.values()] };
}

function waiting({ tables, parameters, now }: Execution): SqlRow[] {
  const values = bound(parameters);
  const [after, ageSeconds, limit] = [values.number(), values.number(), values.number()];
  return [...tables.buffer.values()].filter((row) => isWaiting(row) && row.id > after && row.createdAt < now - ageSeconds * 1e6).sort(byId).slice(0, limit).map(placeRow);
}

function conflicts({ tables, parameters }: Execution): SqlRow[] {
  const values = bound(parameters);
  const [datastore, after, limit] = [values.text(), values.number(), values.number()];
  return [...tables.buffer.values()].filter((row) => row.state === 'conflict' && row.datastore === datastore && row.id > after).sort(byId).slice(0, limit).map(wholeRow);
}

function status({ tables, parameters: [datastore], now }: Execution): SqlRow[] {
  const rows = [...tables.buffer.values()].filter((row) => row.datastore === datastore);
  const count = (state: BufferedRow['state']): number => rows.filter((row) => row.state === state).length;
  const oldest = Math.min(...rows.filter(isWaiting).map(({ createdAt }) => createdAt));
  return [[count('waiting'), Number.isFinite(oldest) ? Math.floor((now - oldest) / 1000) : null, count('parked'), count('conflict')]];
}

function fail({ tables, parameters }: Execution): Written {
  const [, most, ...key] = parameters;
  return updated(named({ tables, parameters: key }).filter(isWaiting).map((row) => ({ ...row, attempts: row.attempts + 1, state: row.attempts + 1 >= Number(most) ? 'parked' : row.state })));
}

/** Rows that a statement names by address and body hash. */
function named({ tables, parameters }: Pick<Execution, 'tables' | 'parameters'>): BufferedRow[] {
  const values = bound(parameters);
  const rows: BufferedRow[] = [];
  while (values.left() > 0) {
    const [datastore, rowKey, columnName, ref_key, bodyHash] = [values.text(), values.bytes(), values.bytes(), values.number(), values.bytes()];
    const row = tables.buffer.get(tables.copies.get(copyKey({ datastore, address: addressOf(rowKey, columnName, ref_key), bodyHash })) ?? 0);
    if (row && !rows.includes(row)) rows.push(row);
  }
  return rows;
}

function updated(rows: readonly BufferedRow[]): Written {
  return { affectedRows: rows.length, insertId: 0, changes: rows.map((row) => ({ kind: 'buffered', row })) };
}

function deleted(rows: readonly BufferedRow[]): Written {
  return { affectedRows: rows.length, insertId: 0, changes: rows.map((row) => ({ kind: 'unbuffered', row })) };
}

function ofIds(buffer: ReadonlyMap<number, BufferedRow>, ids: readonly SqlParameter[]): BufferedRow[] {
  return [...new Set(ids.map(Number))].sort((one, other) => one - other).flatMap((id) => buffer.get(id) ?? []);
}

const isWaiting = ({ state }: BufferedRow): boolean => state === 'waiting';
const byId = (one: BufferedRow, other: BufferedRow): number => one.id - other.id;

function placeRow({ id, datastore, shard, rowKey, columnName, ref_key, bodyHash }: BufferedRow): SqlRow {
  return [id, datastore, shard, rowKey, columnName, ref_key, bodyHash];
}

function wholeRow(row: BufferedRow): SqlRow {
  return [...placeRow(row), row.body, toSqlText(row.createdAt)];
}

import type { SqlRow } from '../../../../shared/sql/client.ts';
import { listed } from './cell-statements.ts';
import { bound, shardsIn, shownCells, type Execution, type Plan } from './plan.ts';
import { fromSqlText, type KeptCell } from './tables.ts';

/** Reads of logs: `select-log`, `find-locations`, `select-heads`, `select-log-places`; and the rows of shards. */
export function planLogRead(sql: string): Plan | undefined {
  const shards = shardsIn(sql);
  if (/^SELECT \d+ AS shard, COALESCE\(MAX\(added_id\), 0\) AS head FROM /.test(sql)) return { kind: 'heads', shards, read: (execution) => shards.map((shard) => [shard, shownCells(execution, shard).at(-1)?.added_id ?? 0]) };
  if (sql.includes(' OVER (ORDER BY added_id) - bytes AS before_it ')) {
    // Each branch names its table twice.
    const branches = shards.filter((_, place) => place % 2 === 0);
    return { kind: 'log', shards: branches, read: (execution) => log(execution, branches) };
  }
  if (sql.includes('WITH RECURSIVE search (low, high, since)')) {
    const branches = shards.filter((_, place) => place % 2 === 0);
    return { kind: 'locations', shards: branches, read: (execution) => locations(execution, branches) };
  }
  if (/^\(?SELECT 0 AS item, \(SELECT log\.epoch FROM `schemaless`\.shard AS log WHERE log\.datastore = \? AND log\.shard = \d+\) AS epoch, /.test(sql)) {
    if (sql.includes(' WHERE added_id IN (')) return { kind: 'places at', shards, read: (execution) => placesAt(execution, shards[0] ?? -1) };
    if (sql.includes(' INTERVAL ')) throw new Error('places of a certain age cannot be simulated');
    return { kind: 'places', shards, read: (execution) => places(execution, shards) };
  }
  if (/^SELECT \d+ AS item FROM `\w+`\.`entity` WHERE added_id = \d+/.test(sql)) {
    const ids = [...sql.matchAll(/ WHERE added_id = (\d+)/g)].map(([, id]) => Number(id));
    return { kind: 'next cells', shards, read: (execution) => shards.flatMap((shard, item): SqlRow[] => (shownCells(execution, shard).some(({ added_id }) => added_id === ids[item]) ? [[item]] : [])) };
  }
  return undefined;
}

export function planShardRow(sql: string): Plan | undefined {
  if (sql === 'SELECT epoch, state FROM `schemaless`.shard WHERE datastore = ? AND shard = ?') return { kind: 'shard', shards: [], read: shardRow };
  if (sql === 'UPDATE `schemaless`.shard SET epoch = ? WHERE datastore = ? AND shard = ? AND epoch < ?') return { kind: 'raise epoch', shards: [], write: raiseEpoch };
  if (sql === 'SELECT 1') return { kind: 'sign of life', shards: [], read: () => [[1]] };
  return undefined;
}

function log(execution: Execution, shards: readonly number[]): SqlRow[] {
  const values = bound(execution.parameters);
  return shards.flatMap((shard, item) => {
    const after = values.number();
    const page = shownCells(execution, shard).filter(({ added_id }) => added_id > after);
    return listed(execution, page, { item, shard, limit: values.number(), bytes: values.number(), withHead: false });
  });
}

function locations(execution: Execution, shards: readonly number[]): SqlRow[] {
  const values = bound(execution.parameters);
  return shards.map((shard, item) => {
    const since = fromSqlText(values.text());
    return [item, shownCells(execution, shard).filter(({ createdAt }) => createdAt < since).length];
  });
}

function placeRow(execution: Execution, item: number, cell: KeptCell): SqlRow {
  return [item, execution.tables.shards.get(cell.shard)?.epoch ?? null, cell.added_id, cell.rowKey, cell.columnName, cell.ref_key, cell.createdText];
}

function places(execution: Execution, shards: readonly number[]): SqlRow[] {
  const values = bound(execution.parameters);
  return shards.flatMap((shard, item) => {
    values.text();
    const at = values.number();
    const limit = values.number();
    return shownCells(execution, shard).filter(({ added_id }) => added_id >= at).slice(0, limit).map((cell) => placeRow(execution, item, cell));
  });
}

function placesAt(execution: Execution, shard: number): SqlRow[] {
  const values = bound(execution.parameters);
  values.text();
  const ids = new Set(Array.from({ length: values.left() }, () => values.number()));
  return shownCells(execution, shard).filter(({ added_id }) => ids.has(added_id)).map((cell) => placeRow(execution, 0, cell));
}

function shardRow({ tables, parameters }: Execution): SqlRow[] {
  const row = tables.shards.get(Number(parameters[1]));
  return row ? [[row.epoch, row.state]] : [];
}

function raiseEpoch({ tables, parameters }: Execution) {
  const [epoch, shard] = [Number(parameters[0]), Number(parameters[2])];
  const row = tables.shards.get(shard);
  if (!row || row.epoch >= epoch) return { affectedRows: 0, insertId: 0, changes: [] };
  return { affectedRows: 1, insertId: 0, changes: [{ kind: 'shard' as const, shard, row: { ...row, epoch } }] };
}

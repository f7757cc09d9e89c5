import { beginOf } from '../../../../shared/body/transaction-mark.ts';
import type { SqlRow } from '../../../../shared/sql/client.ts';
import { listed } from './cell-statements.ts';
import {
  bound,
  NOTHING_WRITTEN,
  shardsIn,
  shownCells,
  written,
  type Execution,
  type Plan,
  type Written,
} from './plan.ts';
import type { KeptCell } from './tables.ts';

export const DATASTORE = 'trips';

/** Plans reads of logs: `select-log`, `select-heads`, `select-log-entries`; and of the rows of shards. */
export function planLogRead(sql: string): Plan | undefined {
  const shards = shardsIn(sql);
  if (/^SELECT \d+ AS shard, COALESCE\(MAX\(added_id\), 0\) AS head FROM /.test(sql))
    return {
      kind: 'heads',
      shards,
      read: (execution) => shards.map((shard) => [shard, shownCells(execution, shard).at(-1)?.added_id ?? 0]),
    };
  const cuts = [...sql.matchAll(/ OVER \(ORDER BY added_id\) - (0|bytes) AS taken /g)];
  if (cuts.length > 0) {
    // Each branch names its table twice, and a third time for its head.
    const items = [...sql.matchAll(/\(SELECT (\d+), \d+, added_id, row_key, /g)].map(([, item]) => Number(item));
    const branches = shards
      .filter((_, position) => position % 3 === 0)
      .map((shard, position) => ({ item: items[position] ?? -1, shard, onlyFitting: cuts[position]?.[1] === '0' }));
    return { kind: 'log', shards: branches.map(({ shard }) => shard), read: (execution) => log(execution, branches) };
  }
  if (
    /^\(?SELECT \d+ AS item, \(SELECT log\.epoch FROM `schemaless`\.shard AS log WHERE log\.datastore = \? AND log\.shard = \d+\) AS epoch, /.test(
      sql,
    )
  ) {
    if (sql.includes(' WHERE added_id IN ('))
      return { kind: 'entries at', shards, read: (execution) => entriesAt(execution, shards[0] ?? -1) };
    if (sql.includes(' INTERVAL ')) throw new Error(`entries of a certain age are not known here: ${sql}`);
    const withHead = sql.includes(', (SELECT MAX(added_id) FROM `');
    // With the head each branch names its table twice.
    const branches = withHead ? shards.filter((_, position) => position % 2 === 0) : shards;
    return {
      kind: 'entries',
      shards: branches,
      read: (execution) =>
        entriesIn(execution, branches, {
          items: itemsIn(sql),
          isBounded: sql.includes(' AND added_id <= ? '),
          withHead,
        }),
    };
  }
  return undefined;
}

export function planShardRow(sql: string): Plan | undefined {
  if (
    sql ===
    'SELECT epoch, state, writer_id IS NULL OR writer_id = @@server_id FROM `schemaless`.shard WHERE datastore = ? AND shard = ?'
  )
    return { kind: 'shard', shards: [], read: shardRow };
  if (sql === 'UPDATE `schemaless`.shard SET epoch = ? WHERE datastore = ? AND shard = ? AND epoch < ?')
    return { kind: 'raise epoch', shards: [], write: raiseEpoch };
  if (
    sql ===
    'SELECT datastore, shard, @@server_id, writer_id FROM `schemaless`.shard WHERE writer_id <> @@server_id ORDER BY datastore, shard'
  )
    return { kind: 'fenced shards', shards: [], read: fencedShards };
  if (
    /^UPDATE `schemaless`\.shard SET writer_id = \?, head_epoch = NULL WHERE writer_id = \? AND @@server_id = \? AND datastore = \? AND shard IN \([?, ]+\)$/.test(
      sql,
    )
  )
    return { kind: 'record writer', shards: [], write: recordWriter };
  if (
    sql.startsWith(
      'UPDATE `schemaless`.shard SET writer_id = 0 WHERE writer_id NOT IN (@@server_id, 4294967295) AND datastore = ? AND shard IN (',
    )
  )
    return { kind: 'forget writers', shards: [], write: forgetWriters };
  // Nothing is kept here: no group is restored.
  if (sql === 'SELECT COALESCE(MAX(id), 0) FROM `schemaless`.drained')
    return { kind: 'last drained', shards: [], read: () => [[0]] };
  if (sql === 'SELECT 1') return { kind: 'health check', shards: [], read: () => [[1]] };
  return undefined;
}

/** Returns the branch numbers of a union: a divided one begins, and continues, anywhere. */
function itemsIn(sql: string): number[] {
  return [...sql.matchAll(/SELECT (\d+) AS item\b/g)].map(([, item]) => Number(item));
}

function log(
  execution: Execution,
  branches: readonly { readonly item: number; readonly shard: number; readonly onlyFitting: boolean }[],
): SqlRow[] {
  const values = bound(execution.parameters);
  return branches.flatMap(({ item, shard, onlyFitting }) => {
    const after = values.number();
    const page = shownCells(execution, shard).filter(({ added_id }) => added_id > after);
    const [limit, bytes] = values.some('number', 'number');
    return listed(execution, page, { item, shard, limit, bytes, onlyFitting });
  });
}

function entryRow({ tables }: Execution, item: number, cell: KeptCell): SqlRow {
  const { shard, added_id, rowKey, columnName, ref_key, createdText } = cell;
  const place = beginOf(cell.body) ? cell.body.subarray(9, 11) : null;
  return [item, tables.shards.get(shard)?.epoch ?? null, added_id, rowKey, columnName, ref_key, createdText, place];
}

interface Ranges {
  readonly items: readonly number[];
  readonly isBounded: boolean;
  readonly withHead: boolean;
}

function entriesIn(execution: Execution, shards: readonly number[], { items, isBounded, withHead }: Ranges): SqlRow[] {
  const values = bound(execution.parameters);
  return shards.flatMap((shard, position) => {
    values.text();
    const at = values.number();
    const to = isBounded ? values.number() : Number.POSITIVE_INFINITY;
    const limit = values.number();
    const cells = shownCells(execution, shard);
    const head = withHead ? [cells.at(-1)?.added_id ?? null] : [];
    return cells
      .filter(({ added_id }) => added_id >= at && added_id <= to)
      .slice(0, limit)
      .map((cell) => [...entryRow(execution, items[position] ?? -1, cell), ...head]);
  });
}

function entriesAt(execution: Execution, shard: number): SqlRow[] {
  const values = bound(execution.parameters);
  values.text();
  const ids = new Set(Array.from({ length: values.left() }, () => values.number()));
  return shownCells(execution, shard)
    .filter(({ added_id }) => ids.has(added_id))
    .map((cell) => entryRow(execution, 0, cell));
}

function shardRow({ tables, parameters, serverId }: Execution): SqlRow[] {
  const row = tables.shards.get(Number(parameters[1]));
  return row ? [[row.epoch, row.state, Number(row.writerId === serverId)]] : [];
}

function fencedShards({ tables, serverId }: Execution): SqlRow[] {
  return [...tables.shards]
    .filter(([, { writerId }]) => writerId !== serverId)
    .map(([shard, { writerId }]) => [DATASTORE, shard, serverId, writerId]);
}

function recordWriter({ tables, parameters, serverId }: Execution): Written {
  const values = bound(parameters);
  const [writerId, instead, wanted] = [values.number(), values.number(), values.number()];
  values.text();
  const named = new Set(Array.from({ length: values.left() }, () => values.number()));
  const rows =
    wanted === serverId
      ? [...tables.shards].filter(([shard, row]) => named.has(shard) && row.writerId === instead)
      : [];
  return written(rows.map(([shard, { epoch, state }]) => ({ kind: 'shard', shard, row: { epoch, state, writerId } })));
}

function forgetWriters({ tables, parameters: [, ...shards], serverId }: Execution): Written {
  const rows = [...tables.shards].filter(([shard, { writerId }]) => shards.includes(shard) && writerId !== serverId);
  return written(rows.map(([shard, row]) => ({ kind: 'shard', shard, row: { ...row, writerId: 0 } })));
}

function raiseEpoch({ tables, parameters }: Execution): Written {
  const [epoch, shard] = [Number(parameters[0]), Number(parameters[2])];
  const row = tables.shards.get(shard);
  return !row || row.epoch >= epoch ? NOTHING_WRITTEN : written([{ kind: 'shard', shard, row: { ...row, epoch } }]);
}

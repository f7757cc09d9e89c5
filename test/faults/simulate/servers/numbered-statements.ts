import { beginOf } from '../../../../shared/body/transaction-mark.ts';
import { SqlError } from '../../../../shared/sql/client.ts';
import { bound, cellsOf, NOTHING_WRITTEN, shardsIn, written, type Execution, type Plan, type Written } from './plan.ts';
import { keptCell, type KeptCell, type ShardRow } from './tables.ts';

/** Plans `numbered-appends`. Their guards are read from their text, as for other appends. */
export function planNumbered(sql: string): Plan | undefined {
  const shards = shardsIn(sql);
  if (sql.startsWith('UPDATE `schemaless`.shard SET head_at = GREATEST(SYSDATE(6), head_at), head = head + '))
    return { kind: 'number', shards: [], write: (execution) => number(execution, sql, guardsIn(sql)) };
  if (/^INSERT INTO `\w+`\.`entity` \([a-z_, ]+\) SELECT LAST_INSERT_ID\(head\)/.test(sql)) {
    const [shard = -1] = shards;
    const cells = sql.split(' UNION ALL ').length;
    return { kind: 'append', shards: [shard], write: (execution) => insert(execution, shard, cells, guardsIn(sql)) };
  }
  if (
    sql.startsWith('UPDATE `schemaless`.shard SET head = COALESCE((SELECT added_id FROM ') &&
    sql.includes('FOR UPDATE')
  ) {
    const [shard = -1] = shards;
    return { kind: 'renumber', shards: [shard], write: (execution) => renumber(execution, shard) };
  }
  if (/^UPDATE `schemaless`\.shard SET head_epoch = NULL WHERE datastore = \? AND shard IN \([?, ]+\)$/.test(sql))
    return { kind: 'forget ends', shards: [], write: forgetEnds };
  return undefined;
}

function forgetEnds({ tables, parameters }: Execution): Written {
  const values = bound(parameters);
  values.text();
  const shards = new Set(Array.from({ length: values.left() }, () => values.number()));
  const rows = [...tables.shards].filter(([shard, row]) => shards.has(shard) && row.end !== undefined);
  return written(rows.map(([shard, { end: _end, ...row }]) => ({ kind: 'shard', shard, row })));
}

type Guards = Readonly<Record<'byEnd' | 'byFirst' | 'byState' | 'byWriter', boolean>>;

function guardsIn(sql: string): Guards {
  return {
    byEnd: sql.includes('head_epoch = epoch'),
    byFirst: sql.includes('head >= first_id'),
    byState: sql.includes("state = 'open'"),
    byWriter: sql.includes('(writer_id IS NULL OR writer_id = @@server_id)'),
  };
}

type EndedRow = ShardRow & Required<Pick<ShardRow, 'end'>>;

function rowOf({ tables, serverId }: Execution, shard: number, epoch: number, guards: Guards): EndedRow | undefined {
  const row = tables.shards.get(shard);
  if (row?.end === undefined || row.epoch !== epoch) return undefined;
  if (guards.byEnd && row.end.epoch !== row.epoch) return undefined;
  if (guards.byFirst && row.end.head < 1) return undefined;
  if ((guards.byState && row.state !== 'open') || (guards.byWriter && row.writerId !== serverId)) return undefined;
  return { ...row, end: row.end };
}

function number(execution: Execution, sql: string, guards: Guards): Written {
  const values = bound(execution.parameters);
  const counts = new Map<number, number>();
  for (const _ of sql.matchAll(/WHEN \? THEN \?/g)) counts.set(...values.some('number', 'number'));
  const [, others = ''] = /head_epoch = IF\(shard IN \(([?, ]+)\), NULL, head_epoch\)/.exec(sql) ?? [];
  const unknown = new Set(others === '' ? [] : others.split(', ').map(() => values.number()));
  values.text();
  const changes: { readonly kind: 'shard'; readonly shard: number; readonly row: ShardRow }[] = [];
  for (const [, shards = ''] of sql.matchAll(/epoch = \? AND shard IN \(([?, ]+)\)/g)) {
    const epoch = values.number();
    for (const _ of shards.split(', ')) {
      const shard = values.number();
      const row = rowOf(execution, shard, epoch, guards);
      if (!row) continue;
      const head = row.end.head + (counts.get(shard) ?? 1);
      const end = { ...row.end, head, at: Math.max(execution.now, row.end.at) };
      const { end: _end, ...endless } = row;
      changes.push({ kind: 'shard', shard, row: unknown.has(shard) ? endless : { ...row, end } });
    }
  }
  return written(changes);
}

function insert(execution: Execution, shard: number, count: number, guards: Guards): Written {
  const values = bound(execution.parameters);
  const wanted = Array.from({ length: count }, () => values.some('bytes', 'bytes', 'number', 'bytes'));
  values.some('text', 'number');
  const row = rowOf(execution, shard, values.number(), guards);
  const log = cellsOf(execution, shard);
  if (!row) return NOTHING_WRITTEN;
  const { head, at } = row.end;
  const cells = wanted.map((cell, position): KeptCell => {
    const kept = keptCell(shard, cell, { added_id: head - count + 1 + position, createdAt: at });
    if (kept.added_id <= (log.cells.at(-1)?.added_id ?? 0)) throw duplicate('PRIMARY');
    const isRepeated = execution.flaws.repeatsTransactions === true && beginOf(kept.body) !== undefined;
    if (log.byAddress.has(kept.address) && !isRepeated) throw duplicate('cell');
    return kept;
  });
  return { affectedRows: count, insertId: head, changes: [{ kind: 'appended', shard, cells }] };
}

function duplicate(key: string): SqlError {
  return new SqlError('duplicate', `Duplicate entry for key '${key}'`, { errno: 1062, key });
}

function renumber(execution: Execution, shard: number): Written {
  const values = bound(execution.parameters);
  values.some('text', 'number');
  const epoch = values.number();
  const last = cellsOf(execution, shard).cells.at(-1);
  const row = execution.tables.shards.get(shard);
  if (!row || row.epoch !== epoch) return NOTHING_WRITTEN;
  const end = { epoch, head: last?.added_id ?? 0, at: last?.createdAt ?? 0 };
  return written([{ kind: 'shard', shard, row: { ...row, end } }]);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { SqlError, type SqlClient, type Statement } from '../../../../../shared/sql/client.ts';
import type { Wrap } from './indexed-store.ts';

/** With what becomes of entries that are there, unless they are the first of their rows, which have no tombstones. */
const ENTRIES = /^(INSERT INTO `[^`]+`\.`[a-z_]+_[0-9a-f]{8}` .*? VALUES )(.*?)( ON DUPLICATE KEY UPDATE .*)?$/su;
const ROW = /\([^()]*IF\([^()]*\([^()]*\)[^()]*\)\)/gu;

function onEntries(change: (statement: Statement, client: SqlClient) => ReturnType<SqlClient['change']>): Wrap {
  return (client) => ({
    ...client,
    change: (statement) => (ENTRIES.test(statement.sql) ? change(statement, client) : client.change(statement)),
  });
}

export const noEntries: Wrap = onEntries(async () => {
  throw new SqlError('unreachable', 'no entries are written');
});

/**
 * Loses a share of the writes and delays the others, in any order. Reports certain losses, because a write with an
 * unclear end is retried.
 */
export function unreliableEntries(lost: number, latestMs: number): Wrap {
  return onEntries(async (statement, client) => {
    await sleep(Math.random() * latestMs); // Clock: writes come in any order
    if (Math.random() < lost) throw new SqlError('unreachable', 'lost');
    return client.change(statement);
  });
}

export const noTombstones: Wrap = onEntries(async ({ sql, parameters }, client) => {
  const [, start = '', rows = '', end] = ENTRIES.exec(sql) ?? [];
  if (end === undefined) return client.change({ sql, parameters });
  const all = rows.match(ROW) ?? [];
  const length = parameters.length / all.length;
  const kept = all.map((_, position) => position).filter((position) => parameters[(position + 1) * length - 1] !== 1);
  if (kept.length === 0) return { affectedRows: 0, insertId: 0 };
  return client.change({
    sql: start + kept.map((position) => all[position]).join(', ') + end,
    parameters: kept.flatMap((position) => parameters.slice(position * length, (position + 1) * length)),
  });
});

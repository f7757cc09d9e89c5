import type { Statement } from './client.ts';

export const SEVERAL_TABLES = 'several tables';

/** Joins SELECTs as a union, unordered. An adapter may run parts separately: one snapshot needs one part. */
export function unionOf(parts: readonly Statement[]): Statement {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  if (last?.parts !== parts) last = makeUnion(parts);
  return last;
}

/** The last union, since callers divide and join the same parts again. A WeakMap would keep many. */
let last: Statement | undefined;

function makeUnion(parts: readonly Statement[]): Statement {
  const table = tableOf(parts);
  return {
    sql: parts.map(({ sql }) => sql).join(' UNION ALL '),
    parameters: parts.flatMap(({ parameters }) => parameters),
    parts,
    ...(table === undefined ? {} : { table }),
  };
}

function tableOf(parts: readonly Statement[]): string | undefined {
  let found: string | undefined;
  for (const { table } of parts) {
    if (table === undefined || table === found) continue;
    if (found !== undefined) return SEVERAL_TABLES;
    found = table;
  }
  return found;
}

import type { Statement } from './client.ts';

/** In place of a table's name: several of them, any of which may keep the union waiting. */
export const SEVERAL_TABLES = 'several tables';

/**
 * The rows of several statements, each a SELECT that can stand in a union. Their order is lost.
 *
 * A way to MySQL that bounds statements and results may run the parts in several statements: what has to be of one
 * snapshot belongs into one part.
 */
export function unionOf(parts: readonly Statement[]): Statement {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  if (last?.parts !== parts) last = makeUnion(parts);
  return last;
}

/**
 * The union that was made last: its text is long, and whoever asks for it, so that it may be divided where it is refused,
 * takes it apart and together again at once. One alone: a WeakMap would keep each, which holds its own key, until the
 * whole heap is collected, and was more than half of what reads left to that.
 */
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

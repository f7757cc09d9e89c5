import type { Statement } from './client.ts';

/**
 * The rows of several statements, each a SELECT that can stand in a union. Their order is lost.
 *
 * A way to MySQL that bounds statements and results may run the parts in several statements: what has to be of one
 * snapshot belongs into one part.
 */
export function unionOf(parts: readonly Statement[]): Statement {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  return { sql: parts.map(({ sql }) => sql).join(' UNION ALL '), parameters: parts.flatMap(({ parameters }) => parameters), parts };
}

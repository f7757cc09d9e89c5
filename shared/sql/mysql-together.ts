import type { ResultSetHeader } from 'mysql2';
import type { SqlParameter, SqlRow, Statement } from './client.ts';
import { readsBehind, type ReadsBehind } from './reads-behind.ts';

/** What is sent at once. */
export interface SentText {
  readonly sql: string;
  readonly values: readonly SqlParameter[];
  /** Of a transaction: statements before the first of those that were asked for. */
  readonly before?: number;
}

/** What one statement of several did. */
export interface DoneTogether {
  readonly change: ResultSetHeader;
  /** @default it wanted nothing to be read, or that failed */
  readonly rows?: readonly SqlRow[];
}

/** A transaction and what is read behind it; of a single statement, that is its own transaction. */
interface TextTogether extends SentText {
  readonly before: number;
  /** Answers that are no rows: with the last of them all of it is committed. */
  readonly changes: number;
  readonly reads: ReadsBehind;
}

export function textTogether(statements: readonly Statement[]): TextTogether {
  const isLone = statements.length === 1;
  const texts = statements.map(({ sql }) => sql);
  const values = statements.flatMap(({ parameters }) => parameters);
  if (!isLone) {
    texts.unshift('START TRANSACTION');
    texts.push('COMMIT');
  }
  const reads = readsBehind(statements);
  for (const { sql, parameters } of reads.selects) {
    texts.push(sql);
    values.push(...parameters);
  }
  return {
    reads,
    sql: texts.join(';'),
    values,
    before: isLone ? 0 : 1,
    changes: isLone ? 1 : statements.length + 2,
  };
}

/** @param results of all statements; undefined: of those that read, some failed */
export function doneTogether(
  statements: readonly Statement[],
  { before, changes: all, reads }: TextTogether,
  changes: readonly ResultSetHeader[],
  results: unknown,
): readonly DoneTogether[] {
  const rows = Array.isArray(results) ? reads.rowsOf(results.slice(all) as readonly (readonly SqlRow[])[]) : [];
  return statements.map((_, position) => {
    const change = changes[before + position] as ResultSetHeader;
    const read = rows[position];
    return read ? { change, rows: read } : { change };
  });
}

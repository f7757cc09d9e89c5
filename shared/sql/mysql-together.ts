import type { ResultSetHeader } from 'mysql2';
import type { SqlParameter, SqlRow, Statement } from './client.ts';
import { readsBehind, type ReadsBehind } from './reads-behind.ts';

export interface SentText {
  readonly sql: string;
  readonly values: readonly SqlParameter[];
  readonly before?: number;
}

export interface DoneTogether {
  readonly change: ResultSetHeader;
  readonly rows?: readonly SqlRow[];
}

/** A transaction and the reads behind it; a single statement is its own transaction. */
interface TextTogether extends SentText {
  readonly before: number;
  /** Answers without rows: with the last one everything is committed. */
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

/** `results` is undefined if a read failed. */
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

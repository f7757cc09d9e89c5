import type { ResultSetHeader } from 'mysql2';
import type { SqlParameter, SqlRow, Statement } from './client.ts';
import { readsAfterCommit, type ReadsAfterCommit } from './reads-after-commit.ts';

export interface SentText {
  readonly sql: string;
  readonly values: readonly SqlParameter[];
  readonly before?: number;
}

export interface PlanResult {
  readonly change: ResultSetHeader;
  readonly rows?: readonly (readonly SqlRow[])[];
}

/** A transaction and the reads behind it; a single statement is its own transaction. */
interface PlanText extends SentText {
  readonly before: number;
  /** With the last of so many answers everything is committed. */
  readonly changes: number;
  /** Answers without rows. */
  readonly answers: number;
  readonly reads: ReadsAfterCommit;
}

/** How long a session may be idle: longer than a pool trusts it. */
export const MAY_BE_IDLE = 'SET SESSION wait_timeout = 40';
/** A refused transaction holds its locks until it is taken back. The server ends it where its client went silent. */
const ENDS_SOON = 'SET SESSION wait_timeout = 2';

export const TAKE_BACK: SentText = { sql: `ROLLBACK;${MAY_BE_IDLE}`, values: [] };

export function planText(statements: readonly Statement[]): PlanText {
  const isLone = statements.length === 1;
  const texts = statements.map(({ sql }) => sql);
  const values = statements.flatMap(({ parameters }) => parameters);
  if (!isLone) {
    texts.unshift('START TRANSACTION', ENDS_SOON);
    texts.push('COMMIT', MAY_BE_IDLE);
  }
  const reads = readsAfterCommit(statements);
  for (const { sql, parameters } of reads.selects) {
    texts.push(sql);
    values.push(...parameters);
  }
  return {
    reads,
    sql: texts.join(';'),
    values,
    before: isLone ? 0 : 2,
    changes: isLone ? 1 : statements.length + 3,
    answers: texts.length - reads.selects.length,
  };
}

/** `results` is undefined if a read failed. */
export function toPlanResult(
  statements: readonly Statement[],
  { before, answers, reads }: PlanText,
  changes: readonly ResultSetHeader[],
  results: unknown,
): readonly PlanResult[] {
  const rows = Array.isArray(results) ? reads.rowsOf(results.slice(answers) as readonly (readonly SqlRow[])[]) : [];
  return statements.map((_, position) => {
    const change = changes[before + position] as ResultSetHeader;
    const read = rows[position];
    return read ? { change, rows: read } : { change };
  });
}

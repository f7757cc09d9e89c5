import { type SqlClient, SqlError, type SqlRow, type Statement, type Target } from './client.ts';
import { unionOf } from './union.ts';

export interface DividedAnswer {
  readonly rows: readonly SqlRow[];
  readonly refused: ReadonlyMap<number, SqlError>;
}

/**
 * Runs the union of several statements. If the server rejects it, halves it until each faulty part is alone, so one bad
 * table takes nothing from the others. A part that is a union is not divided. n parts with one faulty part cost about 2
 * log2 n statements more. A right missing for the first log2 n + 2 tables is taken to be missing for all. `parts`:
 * number their own rows. Throws SqlError for any failure other than `rejected`.
 */
export function selectDivided(
  client: Pick<SqlClient, 'select'>,
  parts: readonly Statement[],
  target: Target,
): Promise<DividedAnswer> {
  if (parts.length === 0) return Promise.resolve(allOf([]));
  return client
    .select(unionOf(parts), target)
    .then(allOf, (error: unknown) => divide(client, parts, target, onlyRefused(error)));
}

function allOf(rows: readonly SqlRow[]): DividedAnswer {
  return { rows, refused: NONE };
}

/** ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_COLUMNACCESS_DENIED_ERROR */
const MISSING_RIGHTS: ReadonlySet<number> = new Set([1044, 1142, 1143]);

const NONE: ReadonlyMap<number, SqlError> = new Map();

async function divide(
  client: Pick<SqlClient, 'select'>,
  parts: readonly Statement[],
  target: Target,
  error: SqlError,
): Promise<DividedAnswer> {
  const rows: SqlRow[] = [];
  const refused = new Map<number, SqlError>();
  const most = Math.ceil(Math.log2(parts.length)) + 2;
  /** Tables refused for a right while none was answered. */
  const forbidden = new Set<string | undefined>();
  let isAnswered = false;

  async function ask(from: number, to: number): Promise<void> {
    if (!isAnswered && forbidden.size >= most) {
      for (let part = from; part < to; part += 1) refused.set(part, error);
      return;
    }
    try {
      for (const row of await client.select(unionOf(parts.slice(from, to)), target)) rows.push(row);
      isAnswered = true;
    } catch (error) {
      await askHalves(from, to, onlyRefused(error));
    }
  }

  async function askHalves(from: number, to: number, error: SqlError): Promise<void> {
    if (to - from === 1) {
      refused.set(from, error);
      if (MISSING_RIGHTS.has(error.errno)) forbidden.add(parts[from]?.table);
      return;
    }
    const middle = Math.ceil((from + to) / 2);
    await ask(from, middle);
    await ask(middle, to);
  }

  await askHalves(0, parts.length, error);
  return { rows, refused };
}

function onlyRefused(error: unknown): SqlError {
  if (error instanceof SqlError && error.failure === 'rejected') return error;
  throw error;
}

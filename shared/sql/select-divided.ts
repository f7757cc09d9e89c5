import { type SqlClient, SqlError, type SqlRow, type Statement, type Target } from './client.ts';
import { unionOf } from './union.ts';

export interface DividedAnswer {
  /** Of all parts that were answered, in no order. */
  readonly rows: readonly SqlRow[];
  /** By place among the parts: why the server refused that part by itself. */
  readonly refused: ReadonlyMap<number, SqlError>;
}

/**
 * Runs the union of several statements. Where the server refuses it (`rejected`: a table that is damaged or gone, a
 * right that is missing) it is divided by halves until each part at fault stands alone: one table that cannot be read
 * takes nothing from those that are asked with it.
 *
 * A part may be a union itself, and is not divided further: what is of one shard, say, fails or is answered together.
 * Costs nothing while nothing is refused; n parts of which one is at fault, about 2 log2 n statements more, one after
 * the other. Where a right is missing for the first log2 n + 2 tables, and none was answered, it is taken to be missing
 * for all.
 *
 * @param parts numbered by their own text where it matters which row is whose; none, and nothing is asked
 * @throws SqlError for every other reason: they say nothing of a single part
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

/** Of a database, of a table, of a column. */
const MISSING_RIGHTS: ReadonlySet<number> = new Set([1044, 1142, 1143]);

const NONE: ReadonlyMap<number, SqlError> = new Map();

/** @param error why the union of all was refused */
async function divide(
  client: Pick<SqlClient, 'select'>,
  parts: readonly Statement[],
  target: Target,
  error: SqlError,
): Promise<DividedAnswer> {
  const rows: SqlRow[] = [];
  const refused = new Map<number, SqlError>();
  const most = Math.ceil(Math.log2(parts.length)) + 2;
  /** Tables that were refused for a right, while none was answered. */
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

/** Throws whatever is no refusal by the server. */
function onlyRefused(error: unknown): SqlError {
  if (error instanceof SqlError && error.failure === 'rejected') return error;
  throw error;
}

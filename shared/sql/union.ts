import { SqlError, type SqlClient, type SqlRow, type Statement, type Target } from './client.ts';

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
  let union = unions.get(parts);
  if (!union) unions.set(parts, (union = makeUnion(parts)));
  return union;
}

/** Its text is long, and whoever divides it where it is refused asks for the same parts once more. */
const unions = new WeakMap<readonly Statement[], Statement>();

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

/** What the parts of a union answered. */
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

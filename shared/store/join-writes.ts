import { LIMITS, type NewCell } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { fromSqlTime } from '../time.ts';
import { areRestored } from '../sql/statements/append-cells.ts';
import { type BufferedCell, insertBuffered } from '../sql/statements/insert-buffered.ts';
import { concernedIndexes, wantRowsAfter, type RowsAfter } from '../index/rows-after.ts';
import { appendToPrimary, type AppendResult } from './append.ts';
import type { StoreContext } from '../access/context.ts';
import { joinedByKey } from '../access/joined.ts';
import { Quarantine } from '../sql/quarantine.ts';
import { answerBuffered, deleteWithdrawn, withdrawBuffered } from '../sql/statements/change-buffered.ts';

/** More would wait for its lock row with a connection each; one statement appends a hundred cells. */
const APPENDS_OF_A_SHARD = 1;
/** Inserts of hints do not wait for each other. */
const COPIES_OF_A_GROUP = 2;
/** Encoded bytes that are joined at most: small cells do not wait for a large one. */
const JOINED_BYTES = 256 * 1024;

export interface JoinedWrites {
  /** As `appendToPrimary`: cells of one shard, no address twice. */
  append(shard: number, cells: readonly BufferedCell[]): Promise<AppendedPart>;
  /** Returns whether the group holds hints of the cells; does not send what is not wanted any more. */
  buffer(group: string, cells: readonly BufferedCell[], isWanted: () => boolean): Promise<boolean>;
  /** Groups whose hints came late. */
  readonly late: Quarantine;
}

/** A write's results, and its rows for the indexes if they were read. */
interface AppendedPart {
  readonly results: readonly AppendResult[];
  readonly group: string;
  readonly after?: RowsAfter;
}

interface Part<Where extends number | string> {
  readonly where: Where;
  readonly cells: readonly BufferedCell[];
}

interface HintPart extends Part<string> {
  readonly isWanted: () => boolean;
}

/** Joins appends to a shard, and hints for a group, so that many writers share one lock and log sync. */
export function joinWrites(context: StoreContext, datastore: string): JoinedWrites {
  async function appendAll(shard: number, cells: readonly BufferedCell[]): Promise<AppendedPart> {
    const indexes = await concernedIndexes(context.topology, datastore, cells);
    if (indexes.length === 0) return appendToPrimary(context, datastore, shard, cells);
    const wanted = wantRowsAfter(datastore, shard, cells, indexes);
    const { results, epoch, group, rows } = await appendToPrimary(context, datastore, shard, cells, {
      thenSelect: wanted.read,
    });
    if (!rows) return { results, group };
    const after = wanted.toRowsAfter(rows, epoch);
    return { results: withTimes(cells, results, after), group, after };
  }

  const append = joinedByKey<Part<number>, AppendedPart>(
    {
      atOnce: APPENDS_OF_A_SHARD,
      // Restored cells need another statement. A second write to an address is judged by the first one's cell.
      fits: (taken, next) =>
        isSmall(taken, next) &&
        areRestored(taken[0].cells) === areRestored(next.cells) &&
        !taken.some(({ cells }) => cells.some((cell) => next.cells.some((other) => isSameAddress(cell, other)))),
      async run(parts) {
        const appended = await appendAll(parts[0].where, cellsOf(parts));
        if (parts.length === 1) return [appended];
        let start = 0;
        return parts.map(({ cells }) => ({
          ...appended,
          results: appended.results.slice(start, (start += cells.length)),
        }));
      },
    },
    ({ where }) => where,
  );
  const buffer = joinedByKey<HintPart, boolean>(
    {
      atOnce: COPIES_OF_A_GROUP,
      fits: isSmall,
      async run(parts) {
        const wanted = parts.filter(({ isWanted }) => isWanted());
        const isHeld = wanted.length > 0 && (await bufferOn(context, parts[0].where, datastore, wanted));
        return parts.map((part) => isHeld && wanted.includes(part));
      },
    },
    ({ where }) => where,
  );
  return {
    append: (shard, cells) => append({ where: shard, cells }),
    buffer: (group, cells, isWanted) => buffer({ where: group, cells, isWanted }),
    late: new Quarantine(),
  };
}

function cellsOf(parts: readonly Part<number | string>[]): readonly BufferedCell[] {
  return parts.flatMap(({ cells }) => cells);
}

function isSmall(taken: readonly Part<number | string>[], next: Part<number | string>): boolean {
  let [count, bytes] = [next.cells.length, encodedBytes(next.cells)];
  for (const { cells } of taken) {
    count += cells.length;
    bytes += encodedBytes(cells);
  }
  return count <= LIMITS.batchCells && bytes <= JOINED_BYTES;
}

function encodedBytes(cells: readonly BufferedCell[]): number {
  return cells.reduce((sum, { encoded }) => sum + encoded.length, 0);
}

function isSameAddress(a: BufferedCell, b: BufferedCell): boolean {
  return a.ref_key === b.ref_key && a.row_key === b.row_key && a.column_name === b.column_name;
}

function withTimes(
  cells: readonly NewCell[],
  results: readonly AppendResult[],
  { states }: RowsAfter,
): readonly AppendResult[] {
  return results.map((result, position) => {
    if (result.outcome !== 'stored' || result.created_at !== undefined) return result;
    const { row_key, column_name, ref_key } = cells[position] as NewCell;
    const found = states
      .find(({ row }) => row.row_key === row_key)
      ?.cells.get(column_name)
      ?.find((cell) => cell.ref_key === ref_key && cell.added_id === result.added_id);
    return found ? { ...result, created_at: fromSqlTime(found.createdAt) } : result;
  });
}

interface Secondaries extends Pick<StoreContext, 'groups'>, Pick<JoinedWrites, 'buffer' | 'late'> {
  /** Told when a hint is late. */
  readonly stepAside?: () => void;
}

/** Hints of healthy groups come far earlier, but for large ones. */
const LATE_MS = 250;
const BYTES_A_MS = 2048;

/**
 * Puts hints of cells on `copies` random secondaries, and tries another for each that fails. A hint that is late is put
 * on another group too, in parallel: the drain removes one that is more. Its group is chosen last for half a minute.
 *
 * @param avoid the primary, and groups with a hint
 * @param last groups chosen only if no other can be reached: one that becomes the primary meanwhile would hold both
 * @returns the groups with a hint now; fewer than `copies` if no more could be reached
 */
export async function bufferOnSecondaries(
  { groups, buffer, late, stepAside = () => undefined }: Secondaries,
  cells: readonly BufferedCell[],
  copies: number,
  avoid: readonly string[],
  last: readonly string[] = [],
): Promise<readonly string[]> {
  if (copies === 0) return [];
  const rank = (group: string): number => 2 * Number(last.includes(group)) + Number(late.has(group));
  const candidates = shuffle((await groups.names()).filter((group) => !avoid.includes(group)));
  candidates.sort((one, other) => rank(one) - rank(other));
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
  const holders: string[] = [];
  const isWanted = (): boolean => holders.length < copies;
  const lateMs = LATE_MS + encodedBytes(cells) / BYTES_A_MS;
  let pending = 0;

  function begin(): void {
    const group = candidates.shift();
    if (group === undefined) return;
    pending += 1;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      late.keep(group);
      if (!isWanted()) return;
      stepAside();
      begin();
    }, lateMs);
    buffer(group, cells, isWanted)
      .finally(() => clearTimeout(timer))
      .then((isHeld) => {
        pending -= 1;
        if (isHeld && !isLate) late.release(group);
        if (!isWanted()) return;
        if (isHeld) holders.push(group);
        else if (!isLate) begin();
        if (pending === 0 || !isWanted()) resolve(holders);
      }, reject);
  }

  for (let copy = 0; copy < copies; copy += 1) begin();
  if (pending === 0) resolve(holders);
  return promise;
}

/** An unclear end is tried once more, on a fresh connection. */
const TRIES = 2;

/** Puts hints into one group's buffer. Returns whether it holds them; reports failures. */
async function bufferOn(
  context: StoreContext,
  group: string,
  datastore: string,
  parts: readonly HintPart[],
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const client = await context.groups.client(group);
      await client.change(insertBuffered(datastore, cellsOf(parts)));
      return true;
    } catch (error) {
      if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
      const clear = error instanceof SchemalessError || error.failure === 'rejected' || error.failure === 'unreachable';
      if (attempt < TRIES && !clear && parts.some(({ isWanted }) => isWanted())) continue;
      context.report({ kind: 'secondary_failed', group, error });
      return false;
    }
  }
}

/** Takes back hints of refused cells. Best effort: the drain judges the rest again. */
export async function withdrawCopies(
  context: StoreContext,
  datastore: string,
  cells: readonly BufferedCell[],
  holders: readonly string[],
): Promise<void> {
  if (cells.length === 0) return;
  await onHolders(context, holders, async (client) => {
    await client.change(withdrawBuffered(datastore, cells));
    await client.change(deleteWithdrawn(datastore, cells));
  });
}

/**
 * Marks hints whose writer is about to be answered `buffered`: they give way to an acknowledged cell when the primary's
 * last cells are brought back. One group must confirm a hint of each cell; a hint drained meanwhile is not confirmed,
 * so the client may have to retry and get `stored_before`.
 *
 * @returns whether they may be answered `buffered`
 */
export async function markAnswered(
  context: StoreContext,
  datastore: string,
  cells: readonly BufferedCell[],
  holders: readonly string[],
): Promise<boolean> {
  const marked = await onHolders(context, holders, async (client) => {
    const { affectedRows } = await client.change(answerBuffered(datastore, cells));
    return affectedRows === cells.length;
  });
  return marked.includes(true);
}

/** Returns each group's answer; undefined if it could not be asked, which is reported. */
function onHolders<T>(
  context: StoreContext,
  holders: readonly string[],
  work: (client: SqlClient) => Promise<T>,
): Promise<readonly (T | undefined)[]> {
  return Promise.all(
    holders.map(async (group) => {
      try {
        return await work(await context.groups.client(group));
      } catch (error) {
        if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
        context.report({ kind: 'secondary_failed', group, error });
        return undefined;
      }
    }),
  );
}

function shuffle<T>(items: readonly T[]): T[] {
  const shuffled = [...items];
  for (let position = shuffled.length - 1; position > 0; position -= 1) {
    const other = Math.floor(Math.random() * (position + 1));
    [shuffled[position], shuffled[other]] = [shuffled[other] as T, shuffled[position] as T];
  }
  return shuffled;
}

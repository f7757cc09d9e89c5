import { type BufferedCell, insertBuffered } from '../sql/statements/insert-buffered.ts';
import { answerBuffered } from '../sql/statements/answer-buffered.ts';
import { deleteWithdrawn, withdrawBuffered } from '../sql/statements/withdraw-buffered.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { SchemalessError } from '../errors.ts';
import type { StoreContext } from '../access/context.ts';

/** The groups, and how copies come to one: as `bufferOn` brings them. */
interface Secondaries extends Pick<StoreContext, 'groups'> {
  readonly buffer: (group: string, cells: readonly BufferedCell[]) => Promise<boolean>;
}

/** Tries of one secondary: an unclear end is tried once more, on a fresh connection. */
const TRIES = 2;

/**
 * Buffers cells of one primary on `copies` secondaries, chosen at random, side by side; another is tried for each that
 * fails.
 *
 * @param avoid groups that must not be chosen: the primary, and those that hold a copy already
 * @param last groups that are chosen only where no other can be reached: what becomes the primary while a write is
 *   under way would hold both of its copies @default none
 * @returns the groups that hold a copy now; fewer than `copies` when no more could be reached
 */
export async function bufferOnSecondaries(
  { groups, buffer }: Secondaries,
  cells: readonly BufferedCell[],
  copies: number,
  avoid: readonly string[],
  last: readonly string[] = [],
): Promise<readonly string[]> {
  if (copies === 0) return [];
  const candidates = shuffle((await groups.names()).filter((group) => !avoid.includes(group)));
  if (last.length > 0) candidates.sort((one, other) => Number(last.includes(one)) - Number(last.includes(other)));
  const holders: string[] = [];
  while (holders.length < copies && candidates.length > 0) {
    const chosen = candidates.splice(0, copies - holders.length);
    const done = await Promise.all(chosen.map((group) => buffer(group, cells)));
    holders.push(...chosen.filter((_, position) => done[position]));
  }
  return holders;
}

/** Puts copies into one group's buffer. Returns whether it holds them now; what went wrong otherwise is reported. */
export async function bufferOn(
  context: StoreContext,
  group: string,
  datastore: string,
  cells: readonly BufferedCell[],
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const client = await context.groups.client(group);
      await client.change(insertBuffered(datastore, cells));
      return true;
    } catch (error) {
      if (!(error instanceof SqlError) && !(error instanceof SchemalessError)) throw error;
      const clear = error instanceof SchemalessError || error.failure === 'rejected' || error.failure === 'unreachable';
      if (attempt < TRIES && !clear) continue;
      context.report({ kind: 'secondary_failed', group, error });
      return false;
    }
  }
}

/**
 * Takes back the copies of cells that turned out to conflict, or to be erased, or whose datastore is gone, before the
 * client is told so. Best effort: what is left behind the drain judges again, and keeps as a conflict, or deletes.
 */
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
 * Marks the copies of cells whose writer is about to be answered `buffered`: they give way to a cell that was
 * acknowledged as stored, should the primary's last cells have to be brought back.
 *
 * A group refuses where the datastore is being deleted: whoever deletes it counts the copies after that, and finds none
 * that is answered later. So one group at least has to take the marks of all of them. Where a copy was drained meanwhile
 * and no other holder is left, that costs a repetition, which is told `stored_before`.
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

/** Returns what each said; undefined of one that could not be asked, which is reported. */
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

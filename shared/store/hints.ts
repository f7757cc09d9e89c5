import { randomBytes } from 'node:crypto';
import type { BufferedCell, PlacedCell } from '../sql/encoded-cell.ts';
import type { StoreContext } from '../access/context.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError, type SqlChange, type SqlClient, type Statement } from '../sql/client.ts';
import type { Quarantine } from '../sql/quarantine.ts';
import { answerBuffered, deleteWithdrawn, withdrawBuffered } from '../sql/statements/change-buffered.ts';
import { insertBuffered } from '../sql/statements/insert-buffered.ts';

/** Hints: copies of writes in the buffer tables of other groups than their primary. */

function encodedBytes(cells: readonly BufferedCell[]): number {
  return cells.reduce((sum, { encoded }) => sum + encoded.length, 0);
}

/** Cells of one write, and the groups with hints of them. */
export interface HeldCells {
  readonly cells: readonly BufferedCell[];
  readonly hintHolders: readonly string[];
}

/** Gives cells a new write id for further hints: a late withdrawal of earlier hints must not affect these. */
export function withNewWriter(cells: readonly PlacedCell[]): readonly BufferedCell[] {
  const writer = randomBytes(8);
  return cells.map((cell) => ({ ...cell, writer }));
}

export interface Secondaries extends Pick<StoreContext, 'groups'> {
  /** Returns whether the group holds hints of the cells; `isWanted`: whether their write still lacks a hint. */
  readonly buffer: (group: string, cells: readonly BufferedCell[], isWanted: () => boolean) => Promise<boolean>;
  /** Takes back, in the background, hints that came when they were not wanted any more. */
  readonly withdraw: (group: string, cells: readonly BufferedCell[]) => void;
  readonly late: Quarantine;
  /** Called when a hint is late. */
  readonly stepAside?: () => void;
}

export function secondariesOf(context: StoreContext, datastore: string): Secondaries {
  return {
    groups: context.groups,
    buffer: (group, cells, isWanted) => bufferOn(context, group, datastore, { cells, isWanted }),
    withdraw: (group, cells) => void withdrawCopies(context, datastore, cells, [group]),
    late: context.found.late,
  };
}

/** Hints of healthy groups come far earlier, but for large ones. */
const LATE_MS = 250;
const BYTES_A_MS = 2048;

/**
 * Puts hints of cells on `copies` random secondaries, and tries another for each that fails. A hint that is late is put
 * on another group too, in parallel, and one that is more is taken back. Its group is chosen last for half a minute.
 * `avoid`: the primary, and groups with a hint. `last`: groups chosen only if no other can be reached: one that becomes
 * the primary meanwhile would hold both. Returns the groups with a hint now; fewer than `copies` if no more could be
 * reached.
 */
export async function bufferOnSecondaries(
  { groups, buffer, late, withdraw, stepAside = () => undefined }: Secondaries,
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
  const hintHolders: string[] = [];
  const isWanted = (): boolean => hintHolders.length < copies;
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
        // A hint that its writer does not rely on would stand against what is stored after a loss.
        if (!isWanted()) return isHeld ? withdraw(group, cells) : undefined;
        if (isHeld) hintHolders.push(group);
        else if (!isLate) begin();
        if (pending === 0 || !isWanted()) resolve(hintHolders);
      }, reject);
  }

  for (let copy = 0; copy < copies; copy += 1) begin();
  if (pending === 0) resolve(hintHolders);
  return promise;
}

/** Puts hints into one group's buffer, with one retry after an unclear end. Returns whether it holds them. */
async function bufferOn(
  context: StoreContext,
  group: string,
  datastore: string,
  { cells, isWanted }: { readonly cells: readonly BufferedCell[]; readonly isWanted: () => boolean },
): Promise<boolean> {
  // The same statement twice counts once.
  const statement = { ...insertBuffered(datastore, cells), isWanted };
  const [isHeld] = await onHintHolders(context, [group], async (client) => {
    const isOpen = ({ failure }: SqlError): boolean => failure !== 'rejected' && failure !== 'unreachable';
    try {
      await changeTwice(client, statement, (error) => isOpen(error) && isWanted());
      return true;
    } catch (error) {
      if (error instanceof SqlError && !isWanted()) return false;
      throw error;
    }
  });
  return isHeld === true;
}

/** Withdraws hints of refused cells of one write. Best effort: the drain judges the rest. */
export async function withdrawCopies(
  context: StoreContext,
  datastore: string,
  cells: readonly BufferedCell[],
  hintHolders: readonly string[],
): Promise<void> {
  if (cells.length === 0) return;
  await onHintHolders(context, hintHolders, async (client) => {
    await changeTwice(client, withdrawBuffered(datastore, cells));
    await client.change(deleteWithdrawn(datastore, cells));
  });
}

/**
 * Marks hints of one write that is about to be answered `buffered`. They give way to an acknowledged cell when the
 * primary's last cells are restored, unless their append may have been done (`isShown`). One group must confirm a hint
 * of each cell. A hint drained since is not confirmed, so the client may have to retry and get `stored_before`. Returns
 * whether they may be answered `buffered`.
 */
export async function markAnswered(
  context: StoreContext,
  datastore: string,
  held: readonly HeldCells[],
  isShown: boolean,
): Promise<boolean> {
  const mark = ({ cells, hintHolders }: HeldCells): Promise<readonly (boolean | undefined)[]> =>
    onHintHolders(context, hintHolders, async (client) => {
      const { affectedRows } = await changeTwice(client, answerBuffered(datastore, cells, isShown));
      return affectedRows === cells.length;
    });
  return (await Promise.all(held.map(mark))).flat().includes(true);
}

/** Sends a change of hints, with a retry after such a failure. @default a lost connection: a timeout leaves no time */
function changeTwice(
  client: SqlClient,
  statement: Statement,
  mayRepeat = ({ failure, timedOut }: SqlError): boolean => failure === 'unclear' && !timedOut,
): Promise<SqlChange> {
  return client.change(statement).catch((error: unknown) => {
    if (!(error instanceof SqlError) || !mayRepeat(error)) throw error;
    return client.change(statement);
  });
}

/** Returns each group's answer; undefined if it could not be asked, which is reported. */
function onHintHolders<T>(
  context: StoreContext,
  hintHolders: readonly string[],
  work: (client: SqlClient) => Promise<T>,
): Promise<readonly (T | undefined)[]> {
  return Promise.all(
    hintHolders.map(async (group) => {
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

import { LIMITS, type Cell, type Role } from '../cell.ts';
import type { ShardHead, ShardLog } from '../contract/datastore.ts';
import { SchemalessError } from '../errors.ts';
import { pauseFor } from '../pause-for.ts';
import { slicesOf } from '../slices-of.ts';
import type { SchemalessClient } from './client.ts';
import { ofClient, type OfClient } from './of-client.ts';
import { isAborted } from './pause.ts';

/**
 * The position of a tail: by shard, the added id of the last cell. JSON. A missing shard is at its start.
 *
 * ```json
 * { "17": 1010, "233": 4 }
 * ```
 */
export type TailOffset = { readonly [shard: string]: number };

export interface TailOptions {
  /** The shards to follow. @default all of them */
  readonly shards?: readonly number[] | undefined;
  /**
   * The position to begin at: the start of the logs, their ends, a time (inclusive), or after an offset.
   * @default 'now'
   */
  readonly from?: 'start' | 'now' | { readonly since: string } | TailOffset | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The longest pause between two polls, in milliseconds; far shorter while cells come. @default 1000 */
  readonly pollMs?: number | undefined;
  /** False: ends once each shard was read to its end. @default true */
  readonly follow?: boolean | undefined;
  readonly read?: Role | undefined;
  /** Cells of a shard in one poll, 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** Called with errors that delay it for a while, such as a group that is down. */
  readonly onError?: ((error: SchemalessError) => void) | undefined;
}

export interface TailedCell {
  readonly cell: Cell;
  /** The offset to continue from after this cell. The object changes with each cell: copy it to keep it. */
  readonly offset: TailOffset;
}

const SHORTEST_MS = 20;
const LONGEST_MS = 1000;

type Logs = Pick<SchemalessClient, 'log' | 'heads' | 'with'>;

/**
 * Follows the logs of many shards, as `tail -f` does: every cell, in the order of its shard's log. Never skips one: it
 * waits for cells that are not visible yet, and for an unavailable group or API.
 *
 * ```ts
 * for await (const { cell, offset } of tail(trips, { from: saved === undefined ? 'start' : JSON.parse(saved) })) {
 *   await use(cell);
 *   saved = JSON.stringify(offset);
 * }
 * ```
 *
 * @throws SchemalessError errors that no retry fixes, such as `unknown_shard`
 */
export async function* tail<Client>(
  given: OfClient<Client, Logs>,
  options: TailOptions = {},
): AsyncGenerator<TailedCell, void, undefined> {
  const { signal, follow = true, pollMs = LONGEST_MS, limit = LIMITS.defaultLimit, read } = options;
  const client = ofClient<Logs>(given, 'tail');
  const bounded = signal === undefined ? client : client.with({ signal });
  const untilAnswered = <T>(ask: () => Promise<T>): Promise<T | undefined> => patiently(ask, options);
  const begun = await untilAnswered(() => begin(bounded, options));
  if (begun === undefined) return;
  const after = new Map(begun);
  const offset: Record<string, number> = Object.fromEntries([...begun].filter(([, id]) => id > 0));
  let pause = SHORTEST_MS;
  for (;;) {
    let [isWhole, hasMore, hasCells] = [true, false, false];
    const locations = [...after].map(([shard, id]) => ({ shard, after: id }));
    for (const some of slicesOf(locations, LIMITS.logCells)) {
      const logs = await untilAnswered(() => bounded.log(some, { limit, read }));
      if (logs === undefined) return;
      for (const log of logs) {
        const told = toldBy(log, options);
        isWhole &&= told !== undefined && !told.more;
        if (told === undefined) continue;
        // `more` without cells means that nothing is ready yet.
        hasMore ||= told.more && told.cells.length > 0;
        hasCells ||= told.cells.length > 0;
        for (const cell of told.cells) {
          offset[log.shard] = cell.added_id;
          yield { cell, offset };
          if (isAborted(signal)) return;
        }
        after.set(log.shard, told.next);
        if (told.next > 0) offset[log.shard] = told.next;
      }
    }
    if (!follow && isWhole) return;
    if (hasMore) continue;
    pause = hasCells ? SHORTEST_MS : Math.min(pollMs, pause * 2);
    await pauseFor(Math.min(pollMs, pause), signal);
    if (isAborted(signal)) return;
  }
}

async function begin(
  client: Pick<SchemalessClient, 'heads' | 'log'>,
  { shards, from = 'now', read }: TailOptions,
): Promise<ReadonlyMap<number, number>> {
  const heads = shards === undefined || from === 'now' ? await client.heads({ read }) : [];
  const numbers = shards ?? heads.map(({ shard }) => shard);
  if (from === 'start') return new Map(numbers.map((shard) => [shard, 0]));
  if (from === 'now') {
    const ends = new Map(heads.map((head) => [head.shard, head]));
    return new Map(numbers.map((shard) => [shard, sound(ends.get(shard))?.head ?? 0]));
  }
  if (!isTime(from)) return new Map(numbers.map((shard) => [shard, from[shard] ?? 0]));
  const { since } = from;
  const begun = new Map<number, number>();
  const locations = numbers.map((shard) => ({ shard, since }));
  for (const some of slicesOf(locations, LIMITS.logCells))
    for (const log of (await client.log(some, { limit: 1, read })).map(sound)) {
      const [first] = log?.cells ?? [];
      if (log) begun.set(log.shard, first === undefined ? log.next : first.added_id - 1);
    }
  return begun;
}

function sound<Told extends ShardLog | ShardHead>(
  told: Told | undefined,
): Exclude<Told, { error: SchemalessError }> | undefined {
  if (told?.error !== undefined) throw told.error;
  return told as Exclude<Told, { error: SchemalessError }> | undefined;
}

function isTime(from: { readonly since: string } | TailOffset): from is { readonly since: string } {
  return typeof from['since'] === 'string';
}

/** Returns the log; undefined for a shard that cannot be read now. */
function toldBy(log: ShardLog, { onError }: TailOptions): Extract<ShardLog, { readonly more: boolean }> | undefined {
  if (log.error === undefined) return log;
  if (log.error.retry === 'never') throw log.error;
  onError?.(log.error);
  return undefined;
}

/** Asks until there is an answer; returns undefined on the signal. */
async function patiently<T>(ask: () => Promise<T>, options: TailOptions): Promise<T | undefined> {
  const { signal, onError, pollMs = LONGEST_MS } = options;
  while (!isAborted(signal)) {
    try {
      return await ask();
    } catch (error) {
      if (isAborted(signal)) return undefined;
      if (!(error instanceof SchemalessError) || error.retry === 'never') throw error;
      onError?.(error);
      await pauseFor(pollMs, signal);
    }
  }
  return undefined;
}

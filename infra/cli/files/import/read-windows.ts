import { setTimeout as wait } from 'node:timers/promises';
import { within } from '../../../../shared/client/bounds.ts';
import { isAborted } from '../../../../shared/client/pause.ts';
import type { CellSource, Position, SourceItem } from './source.ts';

/** Sources that are open at the same time: an export has a file for each shard, and they are stored in parallel. */
const OPEN_AT_ONCE = 16;
/** The idle time after which a window ends, such as for a pipe that a person writes to. */
const IDLE_MS = 100;

/** Items of one pass. Those of a source are in its order. */
export type Window = readonly { readonly source: CellSource; readonly items: readonly SourceItem[] }[];

interface WindowOptions {
  /** A window ends with the piece that brings so many items, */
  readonly items: number;
  /** or so many bytes of text. */
  readonly bytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Yields the items of sources, some sources at a time and in turn, each in its order. */
export async function* readWindows(
  sources: readonly { readonly source: CellSource; readonly from: Position }[],
  { items: mostItems, bytes: mostBytes, signal }: WindowOptions,
): AsyncGenerator<Window, void, undefined> {
  const waiting = sources.map(({ source, from }) => () => ({
    source,
    iterator: source.read(from)[Symbol.asyncIterator](),
  }));
  const open: ReturnType<(typeof waiting)[number]>[] = [];
  let window: Window[number][] = [];
  let [count, bytes] = [0, 0];
  const taken = (): Window => {
    const all = window;
    [window, count, bytes] = [[], 0, 0];
    return all;
  };
  try {
    while (!isAborted(signal)) {
      open.push(...waiting.splice(0, OPEN_AT_ONCE - open.length).map((begin) => begin()));
      const turn = open.shift();
      if (!turn) break;
      const next = turn.iterator.next();
      if (count > 0 && !(await comesSoon(next))) yield taken();
      // A pipe may stay silent forever.
      const result = await within({ signal }, next).catch((error: unknown) => {
        if (!isAborted(signal)) throw error;
      });
      if (result === undefined) break;
      if (result.done === true) continue;
      open.push(turn);
      const items = result.value;
      window.push({ source: turn.source, items });
      count += items.length;
      bytes += items.reduce((sum, item) => sum + item.bytes, 0);
      if (count >= mostItems || bytes >= mostBytes) yield taken();
    }
    if (count > 0) yield taken();
  } finally {
    for (const { iterator } of open) void iterator.return?.();
  }
}

/** Returns whether it settles soon; a rejection also counts. */
async function comesSoon(next: Promise<unknown>): Promise<boolean> {
  const came = new AbortController();
  try {
    return await Promise.race([
      next.then(
        () => true,
        () => true,
      ),
      wait(IDLE_MS, false, { signal: came.signal }).catch(() => true),
    ]);
  } finally {
    came.abort();
  }
}

import type { CellSource, Position, SourceItem } from './source.ts';

/** Sources that are open at once: files of an export are one for each shard, and are to be stored side by side. */
const OPEN_AT_ONCE = 16;
/** When nothing came for so long, as of a pipe that somebody writes to by hand. */
const IDLE_MS = 100;

interface Read {
  readonly source: CellSource;
  readonly items: readonly SourceItem[];
}

interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when nothing came for a while. */
  readonly idle: () => void;
}

/** What sources hold, some sources at a time and in turn; each in its order. */
export async function* readInTurn(
  sources: readonly { readonly source: CellSource; readonly from: Position }[],
  { signal, idle }: ReadOptions,
): AsyncGenerator<Read, void, undefined> {
  const waiting = sources.map(({ source, from }) => ({
    source,
    open: () => source.read(from)[Symbol.asyncIterator](),
  }));
  const open: { source: CellSource; iterator: AsyncIterator<readonly SourceItem[]> }[] = [];
  try {
    for (;;) {
      while (open.length < OPEN_AT_ONCE) {
        const next = waiting.shift();
        if (!next) break;
        open.push({ source: next.source, iterator: next.open() });
      }
      const turn = open.shift();
      if (!turn || signal?.aborted) return;
      const result = await orEnd(unlessIdle(turn.iterator.next(), idle), signal);
      if (result === undefined) return;
      if (result.done === true) continue;
      open.push(turn);
      yield { source: turn.source, items: result.value };
    }
  } finally {
    for (const { iterator } of open) void iterator.return?.();
  }
}

/** Undefined once the signal comes: a pipe may say nothing for ever. */
async function orEnd<T>(next: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  if (!signal) return next;
  let end: () => void = () => undefined;
  const ended = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined);
    signal.addEventListener('abort', end);
  });
  try {
    return await Promise.race([next, ended]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

async function unlessIdle<T>(next: Promise<T>, idle: () => void): Promise<T> {
  const timer = setTimeout(idle, IDLE_MS);
  try {
    return await next;
  } finally {
    clearTimeout(timer);
  }
}

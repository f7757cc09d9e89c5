import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Refused } from './api.ts';

/** Something that is asked for again and again while it is looked at. */
export interface Live<Data> {
  readonly data: Data | undefined;
  /** Why the last try failed; what came before stays. */
  readonly error: Refused | undefined;
  /** When `data` came, by `Date.now()`. */
  readonly at: number | undefined;
  /** Asks now. */
  readonly again: () => void;
}

const MOST_PAUSE_MS = 10_000;

/**
 * Loads, and again so many milliseconds after each answer: never two at once, and not while nobody looks. What fails is
 * tried again, later and later, up to ten seconds.
 *
 * @param key of what is loaded: another one begins anew
 * @param everyMs @default once
 */
export function useLive<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  key: string,
  everyMs: number = Number.POSITIVE_INFINITY,
): Live<Data> {
  const [state, setState] = useState<Omit<Live<Data>, 'again'> & { readonly of: string }>({
    data: undefined,
    error: undefined,
    at: undefined,
    of: key,
  });
  const loading = useRef(load);
  loading.current = load;
  const wake = useRef<() => void>(() => undefined);
  useEffect(() => {
    const ended = new AbortController();
    void poll({
      load: (signal) => loading.current(signal),
      everyMs,
      signal: ended.signal,
      onSleep: (awake) => (wake.current = awake),
      onData: (data) => setState({ data, error: undefined, at: Date.now(), of: key }),
      onError: (error) => setState((before) => ({ ...(before.of === key ? before : NOTHING), error, of: key })),
    });
    return () => ended.abort();
  }, [key, everyMs]);
  const again = useCallback(() => wake.current(), []);
  const { of, ...now } = state;
  return of === key ? { ...now, again } : { ...NOTHING, again };
}

const NOTHING = { data: undefined, error: undefined, at: undefined };

interface Polling<Data> {
  readonly load: (signal: AbortSignal) => Promise<Data>;
  readonly everyMs: number;
  readonly signal: AbortSignal;
  readonly onSleep: (wake: () => void) => void;
  readonly onData: (data: Data) => void;
  readonly onError: (error: Refused) => void;
}

async function poll<Data>({ load, everyMs, signal, onSleep, onData, onError }: Polling<Data>): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let pause = everyMs;
    try {
      const data = await load(signal);
      if (signal.aborted) return;
      failures = 0;
      onData(data);
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      onError(error instanceof Refused ? error : new Refused(0, { detail: String(error) }, undefined));
      pause = Math.min(MOST_PAUSE_MS, 500 * 2 ** failures);
    }
    await sleep(pause, signal, onSleep);
  }
}

/** Until the time is over and somebody looks, or somebody wakes it. */
function sleep(ms: number, signal: AbortSignal, onSleep: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
      signal.removeEventListener('abort', end);
      resolve();
    };
    let isOver = false;
    const over = (): void => {
      isOver = true;
      if (!document.hidden) end();
    };
    const seen = (): void => {
      if (isOver && !document.hidden) end();
    };
    const timer = Number.isFinite(ms) ? setTimeout(over, ms) : undefined;
    document.addEventListener('visibilitychange', seen);
    signal.addEventListener('abort', end, { once: true });
    onSleep(end);
  });
}

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Refused } from './api.ts';
import { join, type Ask } from './feed.ts';

export interface Live<Data> {
  readonly data: Data | undefined;
  /** Why the last try failed; what came before stays. */
  readonly error: Refused | undefined;
  /** When `data` came, by `Date.now()`. */
  readonly at: number | undefined;
  readonly again: () => void;
}

export const POLL_MS = 2000;

/** Polls what a screen shows. Another `key` starts over; `everyMs` left out loads once. */
export function useLive<Data>(
  load: (ask: Ask) => Promise<Data>,
  key: string,
  everyMs: number = Number.POSITIVE_INFINITY,
): Live<Data> {
  const [state, setState] = useState<Omit<Live<Data>, 'again'> & { readonly of: string }>({ ...NOTHING, of: key });
  const loading = useRef(load);
  loading.current = load;
  const joined = useRef<() => void>(() => undefined);
  useEffect(() => {
    const { again, leave } = join<Data>({
      load: (ask) => loading.current(ask),
      everyMs,
      onData: (data) => setState({ data, error: undefined, at: Date.now(), of: key }),
      onError: (error) => setState((before) => ({ ...(before.of === key ? before : NOTHING), error, of: key })),
    });
    joined.current = again;
    return leave;
  }, [key, everyMs]);
  const again = useCallback(() => joined.current(), []);
  const { of, ...now } = state;
  return of === key ? { ...now, again } : { ...NOTHING, again };
}

/** Polls what a path of the API answers. */
export function useAnswer<Answer>(path: string, everyMs?: number): Live<Answer> {
  return useLive((ask) => ask<Answer>(path), path, everyMs);
}

const NOTHING = { data: undefined, error: undefined, at: undefined };

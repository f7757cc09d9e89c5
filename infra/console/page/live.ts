import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Ask, Asking, Refused } from './api.ts';
import { join } from './feed.ts';
import { usePage } from './session.ts';

export interface Live<Data> {
  readonly data: Data | undefined;
  /** The error of the last poll; `data` keeps the last answer. */
  readonly error: Refused | undefined;
  /** The time when `data` came, by `Date.now()`. */
  readonly at: number | undefined;
  readonly again: () => void;
}

export const POLL_MS = 2000;
export const ONCE = Number.POSITIVE_INFINITY;

/** Polls the data of a screen. A change of `key` or datastore restarts it: `key` has all else that decides the data. */
export function useLive<Data>(load: (ask: Ask) => Promise<Data>, everyMs: number, key = ''): Live<Data> {
  const { datastore } = usePage();
  const [state, setState] = useState<Omit<Live<Data>, 'again'> & { readonly of: string }>({ ...NOTHING, of: key });
  const loading = useRef(load);
  loading.current = load;
  const joined = useRef<() => void>(() => undefined);
  useEffect(() => {
    const { again, leave } = join<Data>({
      datastore,
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

/** Polls the answer of one operation. */
export function useAnswer<Answer>(parts: readonly (string | number)[], everyMs: number, asking?: Asking): Live<Answer> {
  return useLive((ask) => ask<Answer>(parts, asking), everyMs, JSON.stringify([parts, asking]));
}

const NOTHING = { data: undefined, error: undefined, at: undefined };

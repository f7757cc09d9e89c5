import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Ask, Asking, Refused } from './api.ts';
import { join } from './feed.ts';
import { usePage } from './session.ts';

export interface Live<Data> {
  readonly data: Data | undefined;
  /** Why the last try failed; what came before stays. */
  readonly error: Refused | undefined;
  /** When `data` came, by `Date.now()`. */
  readonly at: number | undefined;
  readonly again: () => void;
}

export const POLL_MS = 2000;
export const ONCE = Number.POSITIVE_INFINITY;

/** Polls what a screen shows. Another `key` starts over: whatever decides what is loaded, but for the datastore. */
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

/** Polls what one operation answers. */
export function useAnswer<Answer>(parts: readonly (string | number)[], everyMs: number, asking?: Asking): Live<Answer> {
  return useLive((ask) => ask<Answer>(parts, asking), everyMs, JSON.stringify([parts, asking]));
}

const NOTHING = { data: undefined, error: undefined, at: undefined };

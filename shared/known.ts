import { ageOf, moment, type Moment } from './time.ts';

/** A cached value that is read now and then. */
export interface Known<Value> {
  /**
   * Returns a value of a bounded age, or the last known one if the read fails. Without one, throws the read's error.
   * Reads again no sooner than after that age.
   */
  read(): Promise<Value>;
  /** Reads it now, or joins the read under way. Never fails. */
  poll(): Promise<void>;
  /** The last value that was read; undefined before the first. */
  last(): Value | undefined;
  /** Makes the next `read` ask again. */
  forget(): void;
}

/** `maxAgeMs`: by both clocks, since a suspended function stops one. `failed`: gets the first of failures in a row. */
export function known<Value>(
  ask: () => Promise<Value>,
  { maxAgeMs = 0, failed }: { readonly maxAgeMs?: number; readonly failed: (error: unknown) => void },
): Known<Value> {
  let value: { readonly is: Value } | undefined;
  let refused: { readonly error: unknown } | undefined;
  let askedAt: Moment | undefined;
  let asking: Promise<Value> | undefined;

  async function askOnce(): Promise<Value> {
    askedAt = moment();
    try {
      value = { is: await ask() };
      refused = undefined;
    } catch (error) {
      if (!refused) failed(error);
      refused = { error };
    }
    return latest();
  }

  function latest(): Value {
    if (value) return value.is;
    throw refused?.error;
  }

  const now = (): Promise<Value> =>
    (asking ??= askOnce().finally(() => {
      asking = undefined;
    }));
  return {
    read: async () => (!asking && askedAt && ageOf(askedAt) < maxAgeMs ? latest() : now()),
    poll: async () => void (await now().catch(() => undefined)),
    last: () => value?.is,
    forget: () => void (askedAt = undefined),
  };
}

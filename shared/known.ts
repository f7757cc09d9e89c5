import { ageOf, moment, type Moment } from './time.ts';

/** Something that is read now and then, and known meanwhile. */
export interface Known<Value> {
  /**
   * Returns a value of a bounded age. Where it cannot be read, the last one that is known; throws what the read threw
   * where none is, and reads again no sooner than that.
   */
  read(): Promise<Value>;
  /** Reads it now, or joins the read under way. Never fails. */
  look(): Promise<void>;
  /** The last value that was read; undefined before the first. */
  last(): Value | undefined;
  /** Has the next `read` ask again. */
  forget(): void;
}

/** `maxAgeMs`: of what is known, by both clocks: a function's is suspended with it. `failed`: told of the first of failures in a row. */
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
    look: async () => void (await now().catch(() => undefined)),
    last: () => value?.is,
    forget: () => void (askedAt = undefined),
  };
}

import { ageOf, moment, type Moment } from './time.ts';

/** Something that is read now and then, and known meanwhile. */
export interface Known<Value> {
  /**
   * Returns a value of a bounded age. Where it cannot be read, the last one that is known; throws what the read threw
   * where none is.
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
  let askedAt: Moment | undefined;
  let asking: Promise<Value> | undefined;
  let isFailing = false;

  async function askOnce(): Promise<Value> {
    const begunAt = moment();
    try {
      value = { is: await ask() };
      isFailing = false;
    } catch (error) {
      if (!isFailing) failed(error);
      isFailing = true;
      if (!value) throw error;
    } finally {
      asking = undefined;
      askedAt = begunAt;
    }
    return value.is;
  }

  const now = (): Promise<Value> => (asking ??= askOnce());
  return {
    async read() {
      return value && askedAt && ageOf(askedAt) < maxAgeMs ? value.is : now();
    },
    look: () =>
      now().then(
        () => undefined,
        () => undefined,
      ),
    last: () => value?.is,
    forget: () => void (askedAt = undefined),
  };
}

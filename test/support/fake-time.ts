import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterEach, beforeEach, vi } from 'vitest';

/**
 * Fakes the time that the code under test lives in: timers and clocks, and the pauses of `node:timers/promises`, which
 * vitest leaves as they are. Time passes by `passes` alone.
 */
export function fakeTime(): Disposable {
  vi.useFakeTimers();
  const real = timers.setTimeout;
  timers.setTimeout = pause as typeof timers.setTimeout;
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      timers.setTimeout = real;
      syncBuiltinESMExports();
      vi.useRealTimers();
    },
  };
}

/** The same for each test of a file. */
export function fakeTimeOfEach(): void {
  let time: Disposable;
  beforeEach(() => {
    time = fakeTime();
  });
  afterEach(() => time[Symbol.dispose]());
}

/** Lets so much of the faked time pass, timer by timer, with all that follows from each. */
export async function passes(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

function pause<T>(milliseconds = 0, value?: T, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const cut = (): void => reject(signal?.reason);
    if (signal?.aborted) return cut();
    // Clock: the faked one
    setTimeout(() => {
      signal?.removeEventListener('abort', cut);
      resolve(value as T);
    }, milliseconds);
    signal?.addEventListener('abort', cut, { once: true });
  });
}

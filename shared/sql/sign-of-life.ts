import { setTimeout as sleep } from 'node:timers/promises';
import { SqlError } from './client.ts';
import type { Standstill } from './standstill.ts';

interface SignOfLifeOptions {
  readonly probe: () => Promise<unknown>;
  readonly timeoutMs: number;
  readonly standstill: Standstill;
  /** When any statement was last answered: that is a sign of life too. */
  readonly answeredAt: () => number;
}

/** Asks one probe at a time; concurrent callers share it. Repeats a probe that this process slept through. */
export class SignOfLife {
  readonly #options: SignOfLifeOptions;
  #asking: Promise<boolean> | undefined;

  constructor(options: SignOfLifeOptions) {
    this.#options = options;
  }

  comes(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  isAskedFor(): boolean {
    return this.#asking !== undefined;
  }

  async #ask(): Promise<boolean> {
    const { probe, timeoutMs, standstill, answeredAt } = this.#options;
    for (;;) {
      const begun = performance.now();
      try {
        await within(timeoutMs, probe());
        return true;
      } catch {
        if (answeredAt() > begun) return true;
        if (!standstill.since(begun)) return false;
      }
    }
  }
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const end = new AbortController();
  try {
    await Promise.race([
      work,
      sleep(milliseconds, undefined, { signal: end.signal, ref: false }).then(() =>
        Promise.reject(new SqlError('unreachable', `no sign of life in ${milliseconds} ms`, { timedOut: true })),
      ),
    ]);
  } finally {
    end.abort();
  }
}

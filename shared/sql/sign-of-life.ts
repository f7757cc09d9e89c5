import { comesWithin } from './comes-within.ts';
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
      if (await comesWithin(timeoutMs, probe())) return true;
      if (answeredAt() > begun) return true;
      if (!standstill.since(begun)) return false;
    }
  }
}

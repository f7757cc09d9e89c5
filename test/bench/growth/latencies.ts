import { createHistogram } from 'node:perf_hooks';

/** The histogram counts whole units, and 0 is none of them. */
const MICROSECONDS = 1000;
const LONGEST_MS = 3_600_000;

/** How long operations took. Takes the same memory however many there were; three figures of each are kept. */
export class Latencies {
  readonly #histogram = createHistogram({ lowest: 1, highest: LONGEST_MS * MICROSECONDS, figures: 3 });

  get count(): number {
    return this.#histogram.count;
  }

  note(milliseconds: number): void {
    this.#histogram.record(Math.min(LONGEST_MS * MICROSECONDS, Math.max(1, Math.round(milliseconds * MICROSECONDS))));
  }

  /** Does something and notes how long it took, unless it fails. */
  async time<T>(work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    const done = await work();
    this.note(performance.now() - start);
    return done;
  }

  /** The time, in milliseconds, that so many per cent stayed under. 0 of nothing. */
  percentile(percent: number): number {
    return this.#histogram.count === 0 ? 0 : this.#histogram.percentile(percent) / MICROSECONDS;
  }

  /** Forgets them all. */
  reset(): void {
    this.#histogram.reset();
  }
}

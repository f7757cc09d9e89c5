import { percentile } from '../support/percentile.ts';

/** A line of the page. */
export interface Figure {
  readonly what: string;
  readonly figure: string;
}

/** What one measurement found. */
export interface Section {
  readonly title: string;
  /** How it was measured, and what it does not say. */
  readonly how: string;
  readonly figures: readonly Figure[];
}

/** "12.1, 20.4, 31.0 ms of 200": median, p99 and the longest. */
export function timesOf(milliseconds: readonly number[]): string {
  if (milliseconds.length === 0) return 'none';
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(milliseconds, share).toFixed(1));
  return `${p50}, ${p99}, ${most} ms of ${milliseconds.length.toLocaleString('en-US')}`;
}

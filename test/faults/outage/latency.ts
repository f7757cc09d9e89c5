import type { PacedWrite } from './paced-load.ts';

/** Milliseconds since 1970, by the clock of the threads' `sentAt`. */
export function clock(): number {
  return performance.timeOrigin + performance.now();
}

/** The writes sent from one moment, and before another; of these shards alone where they are given. */
export function sentBetween(writes: readonly PacedWrite[], from: number, to: number, shards?: ReadonlySet<number>): readonly PacedWrite[] {
  return writes.filter(({ sentAt, shard }) => sentAt >= from && sentAt < to && (shards?.has(shard) ?? true));
}

/** The time, in milliseconds, under which this share of the writes was answered. NaN when there is none. */
export function percentile(writes: readonly PacedWrite[], share: number): number {
  const sorted = writes.map(({ milliseconds }) => milliseconds).sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** "p50 2.1, p99 9.4 ms of 2,412" */
export function latencyLine(writes: readonly PacedWrite[]): string {
  return `p50 ${percentile(writes, 0.5).toFixed(1)}, p99 ${percentile(writes, 0.99).toFixed(1)} ms of ${writes.length.toLocaleString('en-US')}`;
}

import { percentile } from '../../support/percentile.ts';
import { grouped } from '../../support/text-table.ts';
import type { Answer } from './ask.ts';

/** The part of an answer that latency needs. */
export type Timed = Pick<Answer, 'begun' | 'milliseconds' | 'shard'>;

/** Milliseconds since 1970. */
export interface Phase {
  readonly from: number;
  readonly to: number;
}

/** Returns the writes that began in a time; to these shards alone if they are given. */
export function begunIn<Write extends Timed>(
  writes: readonly Write[],
  { from, to }: Phase,
  shards?: ReadonlySet<number>,
): readonly Write[] {
  return writes.filter(({ begun, shard }) => begun >= from && begun < to && (shards?.has(shard) ?? true));
}

/** Returns milliseconds, or NaN without writes. */
export function p99(writes: readonly Pick<Timed, 'milliseconds'>[], share = 0.99): number {
  return percentile(
    writes.map(({ milliseconds }) => milliseconds),
    share,
  );
}

/** "p50 2.1, p99 9.4 ms of 2,412" */
export function latencyLine(writes: readonly Timed[]): string {
  return `p50 ${p99(writes, 0.5).toFixed(1)}, p99 ${p99(writes).toFixed(1)} ms of ${grouped(writes.length)}`;
}

/** The latencies of writes, in milliseconds, and their outcomes. */
export interface Waits {
  readonly count: number;
  /** NaN without writes. */
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  /** Answered `unavailable`. */
  readonly refused: number;
}

/** The waits of writes that began in a time: of those to some shards, and of all others. */
export interface Waited {
  readonly own: Waits;
  readonly others: Waits;
}

export function waitedIn(answers: readonly Answer[], phase: Phase, shards: ReadonlySet<number>): Waited {
  const begun = begunIn(answers, phase);
  return {
    own: waitsOf(begun.filter(({ shard }) => shards.has(shard))),
    others: waitsOf(begun.filter(({ shard }) => !shards.has(shard))),
  };
}

function waitsOf(answers: readonly Answer[]): Waits {
  return {
    count: answers.length,
    p50: p99(answers, 0.5),
    p99: p99(answers),
    most: p99(answers, 1),
    refused: answers.filter(({ outcome }) => outcome === 'unavailable').length,
  };
}

/** "p50 0.004, p99 0.031, most 0.040 s of 900, 0 refused" */
export function waitsLine({ count, p50, p99, most, refused }: Waits): string {
  return `p50 ${seconds(p50)}, p99 ${seconds(p99)}, most ${seconds(most)} s of ${grouped(count)}, ${grouped(refused)} refused`;
}

export function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

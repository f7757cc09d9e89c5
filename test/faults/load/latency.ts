import { grouped } from '../../support/text-table.ts';
import type { Answer } from './ask.ts';

/** What of an answer is looked at here. */
export type Timed = Pick<Answer, 'begun' | 'milliseconds' | 'shard'>;

/** Milliseconds since 1970. */
export interface Phase {
  readonly from: number;
  readonly to: number;
}

/** The writes that began in a time; to these shards alone where they are given. */
export function begunIn<Write extends Timed>(
  writes: readonly Write[],
  { from, to }: Phase,
  shards?: ReadonlySet<number>,
): readonly Write[] {
  return writes.filter(({ begun, shard }) => begun >= from && begun < to && (shards?.has(shard) ?? true));
}

/** The time, in milliseconds, under which this share of the writes was answered. NaN when there is none. */
export function percentile(writes: readonly Pick<Timed, 'milliseconds'>[], share: number): number {
  const sorted = writes.map(({ milliseconds }) => milliseconds).sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** "p50 2.1, p99 9.4 ms of 2,412" */
export function latencyLine(writes: readonly Timed[]): string {
  return `p50 ${percentile(writes, 0.5).toFixed(1)}, p99 ${percentile(writes, 0.99).toFixed(1)} ms of ${grouped(writes.length)}`;
}

/** How long writes waited for their answers, in milliseconds, and what these were. */
export interface Waits {
  readonly count: number;
  /** NaN where there is none. */
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  /** Answered `unavailable`. */
  readonly refused: number;
}

/** Of the writes that began in a time, those to some shards, and those to all others. */
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
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(answers, share)) as [number, number, number];
  return {
    count: answers.length,
    p50,
    p99,
    most,
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

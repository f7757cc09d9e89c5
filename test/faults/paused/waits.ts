import { shardOf } from '../../../shared/shard.ts';
import type { Answer } from '../acks/ask.ts';

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

export interface Window {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** Of the writes that began in a window, those to some shards, and those to all others. */
export function waitsIn(answers: readonly Answer[], { from, to }: Window, shards: ReadonlySet<number>, ofDatastore: number): { readonly own: Waits; readonly others: Waits } {
  const begun = answers.filter((answer) => answer.begun >= from && answer.begun < to);
  const isOwn = ({ row_key }: Answer): boolean => shards.has(shardOf(row_key, ofDatastore));
  return { own: waitsOf(begun.filter(isOwn)), others: waitsOf(begun.filter((answer) => !isOwn(answer))) };
}

function waitsOf(answers: readonly Answer[]): Waits {
  const sorted = answers.map(({ begun, ended }) => ended - begun).sort((one, other) => one - other);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), most: at(1), refused: answers.filter(({ outcome }) => outcome === 'unavailable').length };
}

/** "p50 0.004, p99 0.031, most 0.040 s of 900, 0 refused" */
export function waitsLine({ count, p50, p99, most, refused }: Waits): string {
  return `p50 ${seconds(p50)}, p99 ${seconds(p99)}, most ${seconds(most)} s of ${count.toLocaleString('en-US')}, ${refused.toLocaleString('en-US')} refused`;
}

export function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

import { inParallel } from '../../support/parallel.ts';
import { Latencies } from './latencies.ts';

/** What of each store is timed, and how often in each round. */
export const OPERATIONS = { put: 300, 'get latest': 2000 } as const;
export type Operation = keyof typeof OPERATIONS;

/** A store among others that are measured in turn with it. */
export interface Subject {
  readonly name: string;
  readonly operations: Readonly<Record<Operation, () => Promise<void>>>;
}

/** Of one round, in milliseconds. */
export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

/** Of each round, in their order. */
export type Rounds = Readonly<Record<Operation, readonly Quantiles[]>>;

const ROUNDS = 25;
/** Until every table has been touched and every statement compiled; they count for nothing. */
const WARM_ROUNDS = 3;
/** Callers, each with one operation under way: about half of what would keep two cores busy. */
const AT_ONCE = 2;

/**
 * Times the operations of all subjects, round after round, each round beginning with another subject, so that what else
 * the machine does, and what an earlier subject leaves to be done, falls on all alike. Each round is the same number of
 * operations: their p99 says the same of each.
 */
export async function inTurns(
  subjects: readonly Subject[],
  { signal, say }: { readonly signal: AbortSignal; readonly say: (line: string) => void },
): Promise<ReadonlyMap<string, Rounds>> {
  const rounds = new Map(
    subjects.map(({ name }) => [name, { put: [] as Quantiles[], 'get latest': [] as Quantiles[] }]),
  );
  for (let round = -WARM_ROUNDS; round < ROUNDS; round += 1) {
    if (round % 5 === 0) say(`round ${round} of ${ROUNDS}`);
    const first = (round + WARM_ROUNDS) % subjects.length;
    for (const { name, operations } of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      for (const operation of Object.keys(OPERATIONS) as Operation[]) {
        const quantiles = await timed(operations[operation], OPERATIONS[operation], signal);
        if (round >= 0) rounds.get(name)?.[operation].push(quantiles);
      }
    }
  }
  return rounds;
}

async function timed(work: () => Promise<void>, times: number, signal: AbortSignal): Promise<Quantiles> {
  const latencies = new Latencies();
  await inParallel(Array.from({ length: times }), AT_ONCE, signal, () => latencies.time(work));
  return { p50: latencies.percentile(50), p99: latencies.percentile(99) };
}

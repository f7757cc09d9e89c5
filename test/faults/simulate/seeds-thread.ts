/** A thread that simulates seeds until its part is done, or its bugs are found. */
import { runAsWorker } from '../../support/workers/worker-side.ts';
import { bugNamed } from './planted-bugs.ts';
import { simulateSeed } from './simulate-seed.ts';

export interface SeedsWanted {
  readonly seed: string;
  /** The numbers `first`, `first + step`, … below `end`. */
  readonly first: number;
  readonly step: number;
  readonly end: number;
  /** After this many milliseconds only seeds below `least` begin. @default all are simulated */
  readonly forMs: number | undefined;
  /** Numbers below it are always simulated: a machine may be half as fast on another day. */
  readonly least: number;
  /** Planted bugs, each simulated from the first number on until it is found. None: all seeds, without a bug. */
  readonly bugs: readonly string[];
}

/** The end of a thread: at once, or with its last seed. */
export type SeedsWord = 'now' | 'when done';

export interface SeedsDone {
  /** Simulated seeds by the name of the bug; without a bug under ''. */
  readonly seeds: Record<string, number>;
  /** Seeds in which a promise broke, or work was left in the end. */
  readonly bad: BadSeed[];
  readonly undone: number;
  readonly broken: number;
  /** Sums over all seeds: answers by outcome, lost cells, cuts, failed statements. */
  readonly sums: Record<string, number>;
}

export interface BadSeed {
  readonly bug: string;
  readonly number: number;
  readonly what: string;
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** Seeds between two progress messages. */
const SAY_EVERY = 20;
/** Enough to inspect; the rest is counted. */
const MOST_BAD = 20;

// Each seed makes and catches thousands of errors; their stack traces are never read.
Error.stackTraceLimit = 0;

/** Returns the machine's clock: every other one of this thread is the simulation's. */
const machineMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

await runAsWorker<SeedsWanted, SeedsWord, SeedsDone, SeedsDone>(
  async ({ seed, first, step, end, forMs = Number.POSITIVE_INFINITY, least, bugs }, control) => {
    const done: Mutable<SeedsDone> = { seeds: {}, bad: [], undone: 0, broken: 0, sums: {} };
    control.ready();
    const since = machineMs();
    for (const bug of bugs.length === 0 ? [undefined] : bugs.map(bugNamed)) {
      const name = bug?.name ?? '';
      for (
        let number = first;
        number < end && control.stopped !== 'now' && (number < least || machineMs() - since < forMs);
        number += step
      ) {
        const { broken, undone, answers, counts } = await simulateSeed(seed, number, bug).catch((cause: unknown) => {
          throw new Error(`seed ${seed}, number ${number}, bug ${name}: ${String(cause)}`, { cause });
        });
        done.seeds[name] = (done.seeds[name] ?? 0) + 1;
        for (const [what, count] of Object.entries({ ...answers, ...counts }))
          done.sums[what] = (done.sums[what] ?? 0) + count;
        if (broken.length > 0) done.broken += 1;
        if (undone.length > 0) done.undone += 1;
        const [what] = [...broken, ...undone];
        if (what !== undefined && done.bad.length < MOST_BAD) done.bad.push({ bug: name, number, what });
        if (what !== undefined && bug) break;
        if ((done.seeds[name] ?? 0) % SAY_EVERY === 0) control.say({ ...done });
      }
    }
    return done;
  },
);

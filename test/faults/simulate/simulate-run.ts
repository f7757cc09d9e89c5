import { grouped, sumOf, type FaultRun, type RunWorld } from '../fault-run.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { BadSeed, SeedsDone, SeedsWanted, SeedsWord } from './seeds-thread.ts';

const SEEDS = 10_000;
/** Simulated regardless of the time. */
const LEAST_SEEDS = 500;
const THREADS = 2;
/** The interval of progress messages. */
const TELL_EVERY_MS = 15_000;

export const simulateRun: FaultRun = {
  name: 'simulate',
  promise: 'No write is lost, changed or answered wrongly, no reader skips, and everything is drained',
  fault: `${SEEDS.toLocaleString('en-US')} seeds, or as many as --seconds allow, in virtual time. Servers crash, pause, lag, refuse, lose their last cells; statements get lost, late, done twice; writers and drains die and freeze. Clocks jump; shards move; a primary stays unavailable; then all heals`,
  control: `${PLANTED_BUGS.length} planted bugs, each to be found`,

  async run(world) {
    const forMs = world.seconds === undefined ? undefined : world.seconds * 1000;
    const least = forMs === undefined ? SEEDS : LEAST_SEEDS;
    const threads = Array.from({ length: THREADS }, (_, thread) => thread);
    const real = await simulate(
      world,
      threads.map(() => []),
      forMs,
    );
    world.say(`the control: ${simulateRun.control}`);
    const names = PLANTED_BUGS.map(({ name }) => name);
    const bugs = threads.map((thread) => names.filter((_, position) => position % THREADS === thread));
    const control = await simulate(world, bugs);
    const seeds = real.seeds[''] ?? 0;
    const foundOf = (name: string): BadSeed | undefined => control.bad.find(({ bug }) => bug === name);
    const found = names.filter((name) => foundOf(name) !== undefined);
    return {
      checks: [
        {
          what: 'seeds that broke a promise, not drained',
          result: `${real.broken}, ${real.undone} of ${grouped(seeds)}`,
          bar: `0, 0 of ${forMs === undefined ? '' : 'at least '}${grouped(least)}`,
          passed: real.broken + real.undone === 0 && seeds >= least,
          control: {
            result: `planted bugs found: ${found.length} of ${names.length}`,
            failed: found.length === names.length,
          },
        },
      ],
      cells: sumOf(['stored', 'stored_before', 'buffered'].map((outcome) => real.sums[outcome] ?? 0)),
      engine: 'simulated servers',
      notes: [
        sumsLine(real.sums),
        ...real.bad.map(({ number, what }) => `seed ${world.seed}, number ${number}: ${what}`),
        ...PLANTED_BUGS.map(({ name, what }) => foundLine(name, what, foundOf(name))),
      ],
    };
  },
};

function sumsLine(sums: Readonly<Record<string, number>>): string {
  const sum = (what: string): string => grouped(sums[what] ?? 0);
  return `answers: ${['stored', 'stored_before', 'buffered', 'conflict', 'unavailable'].map((outcome) => `${outcome} ${sum(outcome)}`).join(', ')}; statements failed ${sum('failures')}; cells lost by promotions ${sum('lostCells')}, cuts met ${sum('cuts')}`;
}

function foundLine(name: string, what: string, found: BadSeed | undefined): string {
  return found ? `${name} (${what}): found in number ${found.number}: ${found.what}` : `${name} (${what}): NOT found`;
}

/**
 * Simulates in threads: every seed without bugs, or the bugs of each thread until each is found.
 *
 * @param forMs how long @default until all are done
 */
async function simulate(
  { seed, signal, say }: RunWorld,
  bugs: readonly (readonly string[])[],
  forMs?: number,
): Promise<SeedsDone> {
  const module = new URL('seeds-thread.ts', import.meta.url);
  const threads = bugs.map((some, thread) => {
    const [first, step] = some.length > 0 ? [0, 1] : [thread, bugs.length];
    const input = { seed, first, step, end: SEEDS, forMs, least: LEAST_SEEDS, bugs: some };
    return startWorker<SeedsWanted, SeedsWord, SeedsDone, SeedsDone>(module, input);
  });
  const simulated = (): number => sumOf(threads.flatMap(({ progress }) => Object.values(progress?.seeds ?? {})));
  const telling = setInterval(() => say(`${grouped(simulated())} simulations`), TELL_EVERY_MS);
  const end = (): void => void threads.map((thread) => thread.stop('now').catch(() => undefined));
  signal.addEventListener('abort', end);
  try {
    return together(await Promise.all(threads.map((thread) => thread.stop('when done'))));
  } finally {
    clearInterval(telling);
    signal.removeEventListener('abort', end);
    for (const thread of threads) thread[Symbol.dispose]();
  }
}

function together(parts: readonly SeedsDone[]): SeedsDone {
  return {
    seeds: added(parts.map(({ seeds }) => seeds)),
    bad: parts.flatMap(({ bad }) => bad).sort((one, other) => one.number - other.number),
    undone: sumOf(parts.map(({ undone }) => undone)),
    broken: sumOf(parts.map(({ broken }) => broken)),
    sums: added(parts.map(({ sums }) => sums)),
  };
}

function added(records: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const record of records)
    for (const [what, count] of Object.entries(record)) sums[what] = (sums[what] ?? 0) + count;
  return sums;
}

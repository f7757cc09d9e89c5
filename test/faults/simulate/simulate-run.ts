import type { FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import { startWorker } from '../../support/workers/running-worker.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { BadSeed, SeedsDone, SeedsWanted, SeedsWord } from './seeds-thread.ts';

const SEEDS = 10_000;
/** Where the time is given: what a machine that is busy with other things reaches in a minute. */
const LEAST_SEEDS = 500;
const THREADS = 2;
/** Between words to whoever is watching. */
const TELL_EVERY_MS = 15_000;

export const simulateRun: FaultRun = {
  name: 'simulate',
  promise: 'No write is lost, changed or answered wrongly, no reader skips, and everything is drained',
  fault: `${SEEDS.toLocaleString('en-US')} seeds, or as many as --seconds allow, in virtual time: servers crash, pause, lag, refuse, lose their last cells; statements get lost, late, done twice; writers and drains die and freeze; clocks jump; shards move; a primary stays away; then all heals`,
  control: `${PLANTED_BUGS.length} planted bugs, each to be found`,

  async run(world: RunWorld): Promise<RunOutcome> {
    const forMs = world.seconds === undefined ? undefined : world.seconds * 1000;
    const least = forMs === undefined ? SEEDS : LEAST_SEEDS;
    const real = await simulate(
      world,
      Array.from({ length: THREADS }, () => []),
      forMs,
    );
    world.say(`the control: ${simulateRun.control}`);
    const control = await simulate(
      world,
      Array.from({ length: THREADS }, (_, thread) =>
        PLANTED_BUGS.filter((_, place) => place % THREADS === thread).map(({ name }) => name),
      ),
    );
    const seeds = real.seeds[''] ?? 0;
    const found = PLANTED_BUGS.flatMap(({ name }) => control.bad.filter(({ bug }) => bug === name));
    return {
      checks: [
        {
          what: 'seeds that broke a promise, not drained',
          figure: `${real.broken}, ${real.undone} of ${seeds.toLocaleString('en-US')}`,
          bar: `0, 0 of ${forMs === undefined ? '' : 'at least '}${least.toLocaleString('en-US')}`,
          passed: real.broken + real.undone === 0 && seeds >= least,
          control: {
            figure: `planted bugs found: ${found.length} of ${PLANTED_BUGS.length}`,
            failed: found.length === PLANTED_BUGS.length,
          },
        },
      ],
      cells: ['stored', 'stored_before', 'buffered'].reduce((sum, outcome) => sum + (real.sums[outcome] ?? 0), 0),
      engine: 'simulated servers',
      notes: [
        sumsLine(real.sums),
        ...real.bad.map(({ number, what }) => `seed ${world.seed}, number ${number}: ${what}`),
        ...PLANTED_BUGS.map(({ name, what }) =>
          foundLine(
            name,
            what,
            control.bad.find(({ bug }) => bug === name),
          ),
        ),
      ],
    };
  },
};

function sumsLine(sums: Readonly<Record<string, number>>): string {
  const grouped = (what: string): string => (sums[what] ?? 0).toLocaleString('en-US');
  return `answers: ${['stored', 'stored_before', 'buffered', 'conflict', 'unavailable'].map((outcome) => `${outcome} ${grouped(outcome)}`).join(', ')}; statements failed ${grouped('failures')}; cells lost by promotions ${grouped('lostCells')}, cuts met ${grouped('cuts')}`;
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
  const threads = bugs.map((some, thread) => {
    const isSearch = some.length > 0;
    return startWorker<SeedsWanted, SeedsWord, SeedsDone, SeedsDone>(new URL('seeds-thread.ts', import.meta.url), {
      seed,
      first: isSearch ? 0 : thread,
      step: isSearch ? 1 : bugs.length,
      end: SEEDS,
      forMs,
      bugs: some,
    });
  });
  const telling = setInterval(
    () =>
      say(`${threads.reduce((sum, { progress }) => sum + simulated(progress), 0).toLocaleString('en-US')} simulations`),
    TELL_EVERY_MS,
  );
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

function simulated(done: SeedsDone | undefined): number {
  return Object.values(done?.seeds ?? {}).reduce((sum, count) => sum + count, 0);
}

function together(parts: readonly SeedsDone[]): SeedsDone {
  return {
    seeds: added(parts.map(({ seeds }) => seeds)),
    bad: parts.flatMap(({ bad }) => bad).sort((one, other) => one.number - other.number),
    undone: parts.reduce((sum, { undone }) => sum + undone, 0),
    broken: parts.reduce((sum, { broken }) => sum + broken, 0),
    sums: added(parts.map(({ sums }) => sums)),
  };
}

function added(records: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const record of records)
    for (const [what, count] of Object.entries(record)) sums[what] = (sums[what] ?? 0) + count;
  return sums;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { endProcessesOn } from '../support/leftovers.ts';
import type { Bench, BenchReport, BenchWorld, Findings, Measured } from './bench.ts';

/**
 * How long a bench that was told to stop has until its processes are killed, and then until it is waited for no more.
 */
interface Patience {
  readonly stopMs: number;
  readonly noticeMs: number;
}

const PATIENCE: Patience = { stopMs: 10_000, noticeMs: 10_000 };

/**
 * Measures, within the bench's limit. Whatever goes wrong is a row that failed; rejects only when the world's signal
 * was aborted.
 *
 * @param engine "MariaDB 10.11.6", for that row
 */
export async function carryOut(
  bench: Bench,
  world: BenchWorld,
  engine: string,
  patience: Patience = PATIENCE,
): Promise<BenchReport> {
  const start = performance.now();
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new Error('the limit is over')), bench.limitMinutes * 60_000);
  const report = ({ measured }: Findings): BenchReport => ({
    name: bench.name,
    what: bench.what,
    seconds: Math.round((performance.now() - start) / 100) / 10,
    measured,
  });
  const failed = (figure: string, bar: string): BenchReport =>
    report({ measured: [{ what: `${bench.name}, whole`, figure, bar, passed: false, engine } satisfies Measured] });
  const limit = `${bench.limitMinutes} ${bench.limitMinutes === 1 ? 'minute' : 'minutes'}`;
  // A timer does not stop work that never waits, and some work ends early rather than throw when it is stopped.
  const isOver = (): boolean => over.signal.aborted || performance.now() - start > bench.limitMinutes * 60_000;
  try {
    const found = await stoppable(bench, { ...world, signal: AbortSignal.any([world.signal, over.signal]) }, patience);
    world.signal.throwIfAborted();
    if (isOver()) return failed(`took longer than ${limit}`, `at most ${limit}`);
    return report(found);
  } catch (error) {
    world.signal.throwIfAborted();
    // After its processes were killed, everything it says is about that.
    console.error(isOver() ? `  stopped after ${limit}: ${firstLine(error)}` : error);
    return isOver()
      ? failed(`took longer than ${limit}`, `at most ${limit}`)
      : failed(firstLine(error), 'an end without an error');
  } finally {
    clearTimeout(timer);
  }
}

/** Settled at the latest when the bench was told to stop by its world's signal, and all patience is at an end. */
async function stoppable(bench: Bench, world: BenchWorld, patience: Patience): Promise<Findings> {
  const ended = new AbortController();
  const givenUp = Promise.withResolvers<never>();
  world.signal.addEventListener(
    'abort',
    () => void giveUp(world.folder, patience, ended.signal).then(givenUp.reject, () => undefined),
    { once: true },
  );
  try {
    return await Promise.race([Promise.try(() => bench.measure(world)), givenUp.promise]);
  } finally {
    ended.abort();
  }
}

/** @param ended aborted when the bench has ended by itself */
async function giveUp(folder: string, { stopMs, noticeMs }: Patience, ended: AbortSignal): Promise<Error> {
  await sleep(stopMs, undefined, { signal: ended });
  endProcessesOn(folder);
  await sleep(noticeMs, undefined, { signal: ended });
  return new Error('it did not stop when it was told to: what follows may be measured beside it');
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] || 'an error without a message';
}

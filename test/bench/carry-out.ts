import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchReport, BenchWorld, Findings } from './bench.ts';

/** The time that a bench has to end after it was told to stop. */
const PATIENCE_MS = 10_000;

/**
 * Measures, within the bench's limit. An error becomes a failed row; rejects only if the world's signal was aborted.
 * The caller ends what remains of a bench that did not stop when told.
 *
 * @param engine "MariaDB 10.11.6", for that row
 */
export async function carryOut(
  bench: Bench,
  world: BenchWorld,
  engine: string,
  patienceMs = PATIENCE_MS,
): Promise<BenchReport> {
  const start = performance.now();
  const limitMs = bench.limitMinutes * 60_000;
  const limit = `${bench.limitMinutes} ${bench.limitMinutes === 1 ? 'minute' : 'minutes'}`;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), limitMs);
  const signal = AbortSignal.any([world.signal, over.signal]);
  const report = ({ measured }: Findings): BenchReport => ({
    name: bench.name,
    what: bench.what,
    seconds: Math.round((performance.now() - start) / 100) / 10,
    measured,
  });
  const failed = (result: string, bar: string): BenchReport =>
    report({ measured: [{ what: `${bench.name}, whole`, result, bar, passed: false, engine }] });
  const givenUp = Promise.withResolvers<never>();
  const giveUp = (): void => void sleep(patienceMs).then(() => givenUp.reject(new Error('it did not stop')));
  signal.addEventListener('abort', giveUp, { once: true });
  let found: Findings | { readonly error: unknown };
  try {
    found = await Promise.race([Promise.try(() => bench.measure({ ...world, signal })), givenUp.promise]);
  } catch (error) {
    found = { error };
  }
  clearTimeout(timer);
  signal.removeEventListener('abort', giveUp);
  world.signal.throwIfAborted();
  if ('error' in found) console.error(found.error);
  // A timer does not stop work that never waits, and some work ends early instead of throwing when stopped.
  if (over.signal.aborted || performance.now() - start > limitMs)
    return failed(`took longer than ${limit}`, `at most ${limit}`);
  return 'error' in found ? failed(firstLine(found.error), 'an end without an error') : report(found);
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] || 'an error without a message';
}

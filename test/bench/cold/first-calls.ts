import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLocalStack } from '../../../infra/local/stack/local-stack.ts';
import type { Access } from '../../../shared/environment.ts';
import { engineName } from '../../support/cluster.ts';
import type { BenchWorld } from '../bench.ts';
import { callables, emptyCallable } from './callable.ts';

/** The times of a new instance of a function until its first answer, in milliseconds, one for each round. */
interface FirstCalls {
  readonly title: string;
  /** The time since before its process started. */
  readonly first: readonly number[];
  /** The same call again, of the same instance. */
  readonly second: readonly number[];
}

interface FirstCallsOfStack {
  /** "MariaDB 10.11.6" */
  readonly engine: string;
  readonly calls: readonly FirstCalls[];
}

const ROUNDS = 5;
/** Fewer than the local environment has, which does not affect these calls. */
const SHARDS = 16;

/**
 * Calls functions of a local stack, in separate processes, right after their instances have ended, and one function
 * that does nothing.
 */
export async function firstCalls(
  { folder, engine: desired, seed, signal, say }: BenchWorld,
  access: Access,
): Promise<FirstCallsOfStack> {
  const empty = join(folder, 'empty-function.mjs');
  writeFileSync(empty, 'export const handler = async () => ({});\n');
  await using parts = new AsyncDisposableStack();
  const stack = await startLocalStack({
    port: 0,
    data: join(folder, 'stack'),
    shards: SHARDS,
    serverSize: 'full',
    engine: desired,
    functions: 'process',
    access,
    restartAfterSeconds: 0,
  });
  parts.defer(() => stack.stop());
  const all = [emptyCallable(empty), ...(await callables(stack, `${seed}/${access}`))];
  for (const { kill } of all) parts.defer(kill);

  const calls = all.map((callable) => ({
    callable,
    title: callable.title,
    first: [] as number[],
    second: [] as number[],
  }));
  // In turn, as with loading; the first round fills caches of the servers and of the disk.
  for (let round = 0; round <= ROUNDS; round += 1) {
    say(`first calls over ${access}, round ${round} of ${ROUNDS}`);
    for (const { callable, first, second } of calls) {
      signal.throwIfAborted();
      await callable.kill();
      const times = [await timed(callable.call), await timed(callable.call)] as const;
      if (round === 0) continue;
      first.push(times[0]);
      second.push(times[1]);
    }
  }
  return { engine: engineName(stack.groups.engine), calls };
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}

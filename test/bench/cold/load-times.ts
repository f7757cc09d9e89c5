import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { BenchWorld } from '../bench.ts';

const run = promisify(execFile);
const ROUNDS = 5;
/** Prints the time until a module and its imports are loaded, as an instance loads them before its first call. */
const TIMER =
  'const start = performance.now(); await import(process.argv[1]); console.log(performance.now() - start); process.exit(0);';

/** Returns the times that fresh processes take to load each file, in milliseconds, one for each round. */
export async function loadTimes(
  files: readonly string[],
  { say, signal }: Pick<BenchWorld, 'say' | 'signal'>,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = new Map(files.map((file): [string, number[]] => [file, []]));
  // In turn, so that other load affects all alike; the first round warms the file cache.
  for (let round = 0; round <= ROUNDS; round += 1) {
    say(`loading, round ${round} of ${ROUNDS}`);
    for (const file of files) {
      signal.throwIfAborted();
      const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', TIMER, file]);
      if (round > 0) times.get(file)?.push(Number(stdout));
    }
  }
  return times;
}

import { join } from 'node:path';
import { findEngine } from '../../../infra/setup/engine.mjs';
import { engineName } from '../../support/cluster.ts';
import { StackProcess } from '../../support/processes/stack-process.ts';
import type { BenchWorld } from '../bench.ts';

/** A whole local stack, as a rule with the datastores as shipped. */
export interface BenchStack extends AsyncDisposable {
  readonly stack: StackProcess;
  readonly data: string;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
}

const START = new URL('../../../infra/local/commands/start.ts', import.meta.url);

/**
 * Runs what `npm start` runs, in processes of its own. Disposing it ends them at once: the folder goes with the
 * measurement.
 *
 * @param flags of `npm start`, other than as it is without
 */
export async function startStack(
  { folder, engine: wish, signal }: Pick<BenchWorld, 'folder' | 'engine' | 'signal'>,
  flags: readonly string[] = [],
): Promise<BenchStack> {
  const data = join(folder, 'stack');
  const engine = findEngine({ wish });
  const stack = await StackProcess.start({
    program: START,
    data,
    signal,
    args: [
      '--data',
      data,
      '--port',
      '0',
      // What is measured is the store on servers that have what they want.
      '--server-size',
      'full',
      '--shards',
      '256',
      ...(wish === undefined ? [] : ['--engine', wish]),
      ...flags,
    ],
  });
  return {
    stack,
    data,
    engine: engine ? engineName(engine) : 'unknown engine',
    [Symbol.asyncDispose]: () => stack.killAll(),
  };
}

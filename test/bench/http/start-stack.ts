import { join } from 'node:path';
import { findEngine } from '../../../infra/setup/engine.mjs';
import { engineName } from '../../support/cluster.ts';
import { StackProcess } from '../../support/processes/stack-process.ts';
import type { BenchWorld } from '../bench.ts';

/** A whole local stack, by default with the shipped datastores. */
interface BenchStack extends AsyncDisposable {
  readonly stack: StackProcess;
  readonly data: string;
  /** "MariaDB 10.11.6" */
  readonly engine: string;
}

const START = new URL('../../../infra/local/commands/start.ts', import.meta.url);

/**
 * Runs `npm start` in separate processes. Disposing it ends them at once: the folder goes with the measurement.
 *
 * @param flags of `npm start`, if different from its defaults
 */
export async function startStack(
  { folder, engine: desired, signal }: Pick<BenchWorld, 'folder' | 'engine' | 'signal'>,
  flags: readonly string[] = [],
): Promise<BenchStack> {
  const data = join(folder, 'stack');
  const engine = findEngine({ desired });
  const stack = await StackProcess.start({
    program: START,
    data,
    signal,
    args: [
      '--data',
      data,
      '--port',
      '0',
      // The store is measured, on servers with all the resources that they want.
      '--server-size',
      'full',
      '--shards',
      '256',
      ...(desired === undefined ? [] : ['--engine', desired]),
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

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PROJECT_ROOT, type AppContext } from '../app-context.ts';
import { loadAssembly } from './template/load-assembly.ts';
import type { LoadedStack } from './template/template.ts';

/** Handed to the thread that synthesizes. */
export interface SynthesisOrder {
  /** Path of a module that exports `buildApp(app)`. */
  readonly app: string;
  readonly context: AppContext;
  readonly folder: string;
}

/** The app that is deployed. */
export const DEPLOYED_APP = join(PROJECT_ROOT, 'infra', 'app.ts');

/**
 * Synthesizes an app with its bundles into a folder, whose earlier content goes, and loads the result. Runs in a thread
 * of its own, beside the servers that start meanwhile, whose memory is free again afterwards.
 */
export async function synthesize(order: SynthesisOrder): Promise<readonly LoadedStack[]> {
  rmSync(order.folder, { recursive: true, force: true });
  await new Promise<void>((resolve, reject) => {
    const worker = new Worker(new URL('synthesis-thread.ts', import.meta.url), { workerData: order, execArgv: [] });
    worker.on('error', reject);
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`The synthesis ended with code ${code}`))));
  });
  return loadAssembly(order.folder);
}

import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT, type AppContext } from '../../app-context.ts';
import { loadAssembly } from './load-assembly.ts';
import type { LoadedStack } from './template.ts';

/** Handed to the process that synthesizes. */
export interface SynthesisOrder {
  /** Path of a module that exports `buildApp(app)`. */
  readonly app: string;
  readonly context: AppContext;
  readonly folder: string;
}

/** The app that is deployed. */
export const DEPLOYED_APP = join(PROJECT_ROOT, 'infra', 'app.ts');

/**
 * Synthesizes an app with its bundles into a folder, whose earlier content goes, and loads the result. Runs in a
 * process of its own, beside the servers that start meanwhile: its memory is free again afterwards, and nothing that
 * the bundler leaves open keeps the stack from ending.
 */
export async function synthesize(order: SynthesisOrder): Promise<readonly LoadedStack[]> {
  rmSync(order.folder, { recursive: true, force: true });
  const child = fork(join(import.meta.dirname, 'synthesis-process.ts'), [JSON.stringify(order)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaint = '';
  child.stderr?.on('data', (chunk) => {
    complaint += String(chunk);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`The synthesis failed: ${complaint.trim() || `it ended with code ${code}`}`);
  return loadAssembly(order.folder);
}

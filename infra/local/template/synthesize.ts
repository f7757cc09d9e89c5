import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../app-context.ts';
import { loadAssembly } from './load-assembly.ts';
import type { SynthesisOrder, SynthesisReport } from './synthesis-order.ts';
import { isSynthesized, recordSynthesis } from './synthesis-record.ts';
import type { LoadedStack } from './template.ts';

/** The app that is deployed. */
export const DEPLOYED_APP = join(PROJECT_ROOT, 'infra', 'app.ts');

/**
 * Synthesizes an app with its bundles into a folder, whose earlier content goes, and loads the result. What the folder
 * has from an earlier time is taken where nothing has changed since that it was made from, see `SynthesisRecord`: that
 * takes a fraction of a second, a synthesis six of a core.
 */
export async function synthesize(order: SynthesisOrder): Promise<readonly LoadedStack[]> {
  if (!isSynthesized(order)) {
    const startedAt = Date.now();
    const { read } = await synthesizeAnew(order);
    recordSynthesis(order, read, startedAt);
  }
  return loadAssembly(order.folder);
}

/**
 * Runs in a process of its own, beside the servers that start meanwhile: its memory is free again afterwards, and
 * nothing that the bundler leaves open keeps the stack from ending.
 */
async function synthesizeAnew(order: SynthesisOrder): Promise<SynthesisReport> {
  rmSync(order.folder, { recursive: true, force: true });
  const child = fork(join(import.meta.dirname, 'synthesis-process.ts'), [JSON.stringify(order)], {
    execArgv: ['--import', new URL('loaded-modules.ts', import.meta.url).href],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaint = '';
  child.stderr?.on('data', (chunk) => {
    complaint += String(chunk);
  });
  let report: SynthesisReport | undefined;
  child.on('message', (message) => {
    report = message as SynthesisReport;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0 || report === undefined)
    throw new Error(`The synthesis failed: ${complaint.trim() || `it ended with code ${code}`}`);
  return report;
}

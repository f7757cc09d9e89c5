import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../app-context.ts';
import { loadAssembly } from './load-assembly.ts';
import { replaceAssembly } from './replace-assembly.ts';
import { whatIsWrong } from './synthesis-complaint.ts';
import type { SynthesisOrder, SynthesisReport } from './synthesis-order.ts';
import { recordSynthesis, synthesizedFrom } from './synthesis-record.ts';
import type { LoadedStack } from './template.ts';

export const DEPLOYED_APP = join(PROJECT_ROOT, 'infra', 'app.ts');

export interface Synthesis {
  readonly stacks: readonly LoadedStack[];
  /** Paths of the modules that it loaded, and of the files that went into bundles. */
  readonly read: readonly string[];
}

/**
 * Synthesizes an app with its bundles into a folder, whose earlier content goes, and loads the result. What the folder
 * has from an earlier time is taken where nothing has changed since that it was made from, see `SynthesisRecord`: that
 * takes a fraction of a second, a synthesis two of a core. One that fails leaves what is in the folder.
 *
 * @param inUse paths of bundles that functions run from: they are left where they are
 * @throws Error that says what is wrong, and where, as the bundler or the compiler says it
 */
export async function synthesize(order: SynthesisOrder, inUse: readonly string[] = []): Promise<Synthesis> {
  const known = synthesizedFrom(order);
  if (known) return { stacks: loadAssembly(order.folder), read: known };
  const startedAt = Date.now();
  const next = `${order.folder}.next`;
  rmSync(next, { recursive: true, force: true });
  try {
    const { read } = await synthesizeAnew({ ...order, folder: next });
    replaceAssembly(next, order.folder, inUse);
    recordSynthesis(order, read, startedAt);
    return { stacks: loadAssembly(order.folder), read };
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/**
 * Runs in a process of its own, beside the servers that start meanwhile: its memory is free again afterwards, changed
 * modules are loaded anew, and nothing that the bundler leaves open keeps the stack from ending.
 */
async function synthesizeAnew(order: SynthesisOrder): Promise<SynthesisReport> {
  const child = fork(join(import.meta.dirname, 'synthesis-process.ts'), [JSON.stringify(order)], {
    execArgv: ['--import', new URL('loaded-modules.ts', import.meta.url).href],
    // The rules of CloudFormation are for what is deployed, and take four of its six seconds: `npm run synth` checks them.
    env: { ...process.env, CDK_VALIDATION: 'false' },
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
    throw new Error(`The synthesis failed: ${whatIsWrong(complaint) || `it ended with code ${code}`}`);
  return report;
}

import { fork } from 'node:child_process';
import { rmSync, existsSync, mkdirSync, readdirSync, renameSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { PROJECT_ROOT } from '../../app-context.ts';
import { type SynthesisOrder, type SynthesisReport, recordSynthesis, synthesizedFrom } from './synthesis-record.ts';
import type { LoadedStack, Template } from './template.ts';

export const DEPLOYED_APP = join(PROJECT_ROOT, 'infra', 'app.ts');

export type Synthesis = Awaited<ReturnType<typeof synthesize>>;

/**
 * Synthesizes an app into a folder and loads the result. Reuses an earlier result if nothing has changed; a synthesis
 * takes two seconds of a core. A failed synthesis keeps the folder's content, and bundles in use stay. Throws an Error
 * with the bundler's or compiler's message.
 */
export async function synthesize(order: SynthesisOrder, inUse: readonly string[] = []) {
  const known = synthesizedFrom(order);
  if (known) return { stacks: loadAssembly(order.folder), read: known };
  const startedAt = Date.now();
  const next = `${order.folder}.next`;
  rmSync(next, { recursive: true, force: true });
  try {
    const { read } = await resynthesize({ ...order, folder: next });
    replaceAssembly(next, order.folder, inUse);
    recordSynthesis(order, read, startedAt);
    return { stacks: loadAssembly(order.folder), read };
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/** Runs in its own process: its memory is freed, changed modules load, and it cannot hang the stack. */
async function resynthesize(order: SynthesisOrder): Promise<SynthesisReport> {
  const child = fork(join(import.meta.dirname, 'synthesis-process.ts'), [JSON.stringify(order)], {
    execArgv: ['--import', new URL('loaded-modules.ts', import.meta.url).href],
    // CloudFormation's rules take four of six seconds: `npm run synth` checks them.
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

/** Replaces the assembly, except bundles in use, which are named by their content. */
export function replaceAssembly(next: string, folder: string, inUse: readonly string[]): void {
  const kept = new Set(inUse.map((path) => relative(folder, path).split(sep)[0]));
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder))
    if (!kept.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  for (const name of readdirSync(next))
    if (!existsSync(join(folder, name))) renameSync(join(next, name), join(folder, name));
}

/** Shortens a failed process's output: the stack keeps its innermost frame outside packages. */
export function whatIsWrong(complaint: string): string {
  let hasFrame = false;
  const lines = complaint
    .trim()
    .split('\n')
    .filter((line) => {
      if (/^Node\.js v\d/u.test(line)) return false;
      if (!/^\s+at /u.test(line)) return true;
      const isOurs = !hasFrame && line.includes(PROJECT_ROOT) && !line.includes('node_modules');
      hasFrame ||= isOurs;
      return isOurs;
    });
  return lines
    .join('\n')
    .replaceAll(/\n{2,}/gu, '\n')
    .trim();
}

interface Artifact {
  readonly type: string;
  readonly properties?: { readonly templateFile?: string; readonly stackName?: string };
}

/** Returns the stacks of a synthesized app in the manifest's order: dependencies come first. */
export function loadAssembly(folder: string): readonly LoadedStack[] {
  const { artifacts = {} }: { readonly artifacts?: Readonly<Record<string, Artifact>> } = JSON.parse(
    readFileSync(join(folder, 'manifest.json'), 'utf8'),
  );
  return Object.entries(artifacts).flatMap(([id, { type, properties }]) => {
    if (type !== 'aws:cloudformation:stack' || properties?.templateFile === undefined) return [];
    const template: Template = JSON.parse(readFileSync(join(folder, properties.templateFile), 'utf8'));
    return [{ name: properties.stackName ?? id, template, folder }];
  });
}

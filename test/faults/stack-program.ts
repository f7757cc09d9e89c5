import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findEngine } from '../../infra/setup/engine.mjs';
import { engineName } from '../support/cluster.ts';
import { StackProcess } from '../support/processes/stack-process.ts';
import type { RunWorld } from './fault-run.ts';

const CONTROL = fileURLToPath(new URL('../../infra/local/commands/control.ts', import.meta.url));
const START = new URL('../../infra/local/commands/start.ts', import.meta.url);

/** Starts a whole local stack of a run, as a program of its own that takes its options as JSON. */
export async function startProgram(
  { folder, engine, signal }: RunWorld,
  name: string,
  program: URL,
  options: object,
): Promise<StackProcess> {
  const data = join(folder, name);
  const args = [JSON.stringify({ data, port: 0, engine, ...options })];
  return await StackProcess.start({ program, args, data, signal });
}

/** Starts it as `npm start` does, with these flags: "server-size". */
export async function startProduct(
  { folder, engine, signal }: RunWorld,
  name: string,
  flags: Readonly<Record<string, string | number>>,
): Promise<StackProcess> {
  const data = join(folder, name);
  const all = { data, port: 0, 'server-size': 'full', ...flags, ...(engine !== undefined && { engine }) };
  const args = Object.entries(all).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  return await StackProcess.start({ program: START, args, data, signal });
}

/** Runs `npm run local -- …` of the stack with this data folder. */
export async function controlStack(data: string, ...parameters: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [CONTROL, ...parameters, '--data', data]);
}

export function stackEngine({ engine: desired }: Pick<RunWorld, 'engine'>): string {
  const engine = findEngine({ desired });
  return engine ? engineName(engine) : 'unknown engine';
}

const FUNCTIONS = fileURLToPath(new URL('../../functions/', import.meta.url));

/** Fills a folder with the product's functions, except for some. @param varied modules by name ("write-cells") */
export function variedFunctions(folder: string, varied: Readonly<Record<string, URL>>): string {
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(FUNCTIONS).filter((name) => name.endsWith('.ts'))) {
    const instead = varied[file.replace(/\.ts$/, '')];
    writeFileSync(
      join(folder, file),
      `export * from ${JSON.stringify(instead ? fileURLToPath(instead) : join(FUNCTIONS, file))};\n`,
    );
  }
  return folder;
}

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';

const ENTRY = join(PROJECT_ROOT, 'infra/cli/command.ts');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
}

/** A folder in which no local stack is found, and no profiles but its own. */
export function environmentIn(folder: string): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'LANG', 'LD_LIBRARY_PATH'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    XDG_CONFIG_HOME: folder,
    NODE_COMPILE_CACHE: join(PROJECT_ROOT, 'node_modules/.cache/node'),
  };
}

/** Starts `schemaless …` as a process of its own. */
export function startCommand(parameters: readonly string[], { folder, environment }: Running): ChildProcess {
  return spawn(process.execPath, [ENTRY, ...parameters], {
    cwd: folder,
    env: { ...environmentIn(folder), ...environment },
    stdio: 'pipe',
  });
}

/** Runs `schemaless …` to its end. */
export async function runCommand(parameters: readonly string[], running: Running): Promise<Ran> {
  return ended(startCommand(parameters, running), running.stdin);
}

/** Runs a line of a shell in which `schemaless` is the command. */
export async function runShell(line: string, running: Running & { readonly shell?: string }): Promise<Ran> {
  const schemaless = `schemaless() { '${process.execPath}' '${ENTRY}' "$@"; }`;
  const child = spawn(running.shell ?? 'bash', ['-c', `set -o pipefail; ${schemaless}\n${line}`], {
    cwd: running.folder,
    env: { ...environmentIn(running.folder), ...running.environment },
    stdio: 'pipe',
  });
  return ended(child, running.stdin);
}

async function ended(child: ChildProcess, stdin: string | Uint8Array = ''): Promise<Ran> {
  if (!child.stdin || !child.stdout || !child.stderr) throw new Error('no pipes');
  // One that refuses what it is given need not read it.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code: code as number | null, stdout, stderr };
}

/** What came as NDJSON. */
export function linesOf({ stdout }: Pick<Ran, 'stdout'>): readonly Readonly<Record<string, unknown>>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

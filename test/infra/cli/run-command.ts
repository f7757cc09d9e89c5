import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { format } from 'node:util';
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
function environmentIn(folder: string): NodeJS.ProcessEnv {
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

/** Starts `schemaless …` as a separate process. */
export function startCommand(parameters: readonly string[], { folder, environment }: Running): ChildProcess {
  return spawn(process.execPath, [ENTRY, ...parameters], {
    cwd: folder,
    env: { ...environmentIn(folder), ...environment },
    stdio: 'pipe',
  });
}

/** Commands of this process run one after the other, since they share its streams, environment and exit code. */
let turn: Promise<unknown> = Promise.resolve();

/** Runs `schemaless …` to its end within this process; `runProcess` is for what only a separate process shows. */
export async function runCommand(parameters: readonly string[], running: Running): Promise<Ran> {
  const ran = turn.then(() => runHere(parameters, running));
  turn = ran.catch(() => undefined);
  return ran;
}

/** Runs `schemaless …` to its end, as a separate process. */
export async function runProcess(parameters: readonly string[], running: Running): Promise<Ran> {
  return ended(startCommand(parameters, running), running.stdin);
}

async function runHere(parameters: readonly string[], { folder, environment, stdin = '' }: Running): Promise<Ran> {
  const output = { stdout: '', stderr: '' };
  const collecting = (name: keyof typeof output): Writable =>
    new Writable({
      write(piece: Buffer, _encoding, done) {
        output[name] += piece.toString();
        done();
      },
    });
  const stdout = collecting('stdout');
  const input = Readable.from([Buffer.from(stdin)]);
  const own = { argv: process.argv, env: process.env, exitCode: process.exitCode, folder: process.cwd() };
  const streams = Object.entries({ stdout, stderr: collecting('stderr'), stdin: input }).map(
    ([name, stream]) => [name, Object.getOwnPropertyDescriptor(process, name), stream] as const,
  );
  const { log } = console;
  const { runCommandLine } = await import('../../../infra/cli/command-line.ts');
  try {
    for (const [name, , stream] of streams) Object.defineProperty(process, name, { value: stream, configurable: true });
    console.log = (...line) => void stdout.write(`${format(...line)}\n`);
    process.argv = [process.execPath, ENTRY, ...parameters];
    process.env = { ...environmentIn(folder), ...environment };
    process.exitCode = undefined;
    process.chdir(folder);
    await runCommandLine();
    return { code: Number(process.exitCode ?? 0), ...output };
  } finally {
    for (const [name, before] of streams) Object.defineProperty(process, name, before ?? {});
    console.log = log;
    Object.assign(process, { argv: own.argv, env: own.env, exitCode: own.exitCode });
    process.chdir(own.folder);
    input.destroy();
  }
}

/** Runs a line of a shell in which `schemaless` is the command. */
export async function runShell(line: string, running: Running): Promise<Ran> {
  const schemaless = `schemaless() { '${process.execPath}' '${ENTRY}' "$@"; }`;
  const child = spawn('bash', ['-c', `set -o pipefail; ${schemaless}\n${line}`], {
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

export function linesOf({ stdout }: Pick<Ran, 'stdout'>): readonly Readonly<Record<string, unknown>>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

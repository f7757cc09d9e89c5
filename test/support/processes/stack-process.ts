import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Endpoints } from '../../../infra/local/running/endpoints.ts';
import { isRunning } from '../../../infra/local/platform/process-table.ts';
import { accessTo, type GroupAccess } from '../store-access.ts';
import { comes, until } from '../until.ts';

interface StackProcessOptions {
  /** The program that runs a whole local stack until SIGTERM, and says `ready URL`. */
  readonly program: URL;
  readonly args: readonly string[];
  readonly data: string;
  readonly signal: AbortSignal;
}

/** As `npm start` does: with more, what threads of it allocate and free stays with each of them. */
const AS_STARTED = { MALLOC_ARENA_MAX: '2' };
const READY_MS = 240_000;
const STOP_MS = 90_000;
const POLL_MS = 25;

/** A whole local stack in its own process group, which can be ended in every way there is. */
export class StackProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #exit: Promise<readonly [number | null, string | null]>;
  readonly #data: string;

  private constructor(child: ChildProcess, url: string, data: string) {
    this.#child = child;
    this.#exit = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve([code, signal]));
    });
    this.url = url;
    this.#data = data;
  }

  /** Starts it and waits until it is ready. Throws with its output if it ends first. */
  static async start({ program, args, data, signal }: StackProcessOptions): Promise<StackProcess> {
    const child = spawn(process.execPath, [fileURLToPath(program), ...args], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...AS_STARTED },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const url = (): string | undefined => /^ready (\S+)$/m.exec(output)?.[1];
    const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
    const isDecided = (): boolean => url() !== undefined || isOver() || signal.aborted;
    await comes(isDecided, { pollMs: POLL_MS, patienceMs: READY_MS });
    const ready = url();
    if (ready !== undefined) return new StackProcess(child, ready, data);
    if (isOver()) throw new Error(`the stack ended while it was starting:\n${output}`);
    child.kill('SIGTERM');
    await gone([child.pid ?? 0], STOP_MS);
    signal.throwIfAborted();
    throw new Error(`the stack was not ready within ${READY_MS / 1000} s:\n${output}`);
  }

  get endpoints(): Endpoints {
    return JSON.parse(readFileSync(join(this.#data, 'endpoints.json'), 'utf8')) as Endpoints;
  }

  /** The groups as they are reached directly, past the forwarders. */
  get groups(): readonly GroupAccess[] {
    return this.endpoints.groups.map(({ name, writer, readers }) =>
      accessTo({ name, user: writer.user, password: writer.password }, [writer, ...readers]),
    );
  }

  get serverPids(): readonly number[] {
    return this.endpoints.groups
      .flatMap(({ writer, readers }) => [writer, ...readers])
      .map(({ pid }) => pid)
      .filter((pid) => pid > 0);
  }

  /** Clean, as Ctrl-C would. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await gone([this.pid], STOP_MS);
    const [code, signal] = await this.#exit;
    if (code !== 0) throw new Error(`the stack ended with ${code ?? signal}, wanted 0`);
  }

  /** kill -9 of the stack, of its functions, and of all servers. */
  async killAll(): Promise<void> {
    const servers = this.serverPids;
    for (const pid of [-this.pid, ...servers]) kill(pid);
    await gone([this.pid, ...servers], STOP_MS);
  }

  /** kill -9 of the stack's own process alone. Returns the servers that it left behind. */
  async killParent(): Promise<readonly number[]> {
    kill(this.pid);
    await gone([this.pid], STOP_MS);
    return this.serverPids.filter(isRunning);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

async function gone(pids: readonly number[], patienceMs: number): Promise<void> {
  await until(`processes ${pids.join(', ')} end`, () => !pids.some(isRunning), { pollMs: POLL_MS, patienceMs });
}

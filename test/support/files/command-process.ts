import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { comes } from '../until.ts';

const COMMAND = fileURLToPath(new URL('../../../infra/cli/command.ts', import.meta.url));
const POLL_MS = 20;

export interface CommandEnd {
  /** Null if it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Most memory that it had in the machine's, as far as it was seen. */
  readonly peakBytes: number;
  readonly seconds: number;
}

/** Runs `import` or `export` in its own process. */
export class CommandProcess {
  readonly ended: Promise<CommandEnd>;
  readonly #child: ChildProcess;
  #peakBytes = 0;

  constructor(url: string, datastore: string, parameters: readonly string[]) {
    const began = performance.now(); // Clock: benches print it
    this.#child = spawn(process.execPath, [COMMAND, '--url', url, '--datastore', datastore, ...parameters], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    this.#child.stdout?.on('data', (piece: Buffer) => (stdout += piece.toString()));
    this.#child.stderr?.on('data', (piece: Buffer) => (stderr += piece.toString()));
    const watch = setInterval(() => this.#poll(), POLL_MS); // Clock: looks at its memory
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        clearInterval(watch);
        const seconds = (performance.now() - began) / 1000; // Clock: benches print it
        resolve({ code, stdout, stderr, peakBytes: this.#peakBytes, seconds });
      });
    });
  }

  /** kill -9, once something is so. Returns whether it was still running by then. */
  async killWhen(isSo: () => boolean | Promise<boolean>): Promise<boolean> {
    const child = this.#child;
    await comes(async () => child.exitCode !== null || (await isSo()), { pollMs: POLL_MS });
    this.#poll();
    child.kill('SIGKILL');
    return (await this.ended).code === null;
  }

  /** VmHWM is the most that a process ever had. */
  #poll(): void {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
      const kilobytes = Number(/^VmHWM:\s+(\d+) kB$/mu.exec(status)?.[1] ?? 0);
      this.#peakBytes = Math.max(this.#peakBytes, kilobytes * 1024);
    } catch {
      // It is gone.
    }
  }
}

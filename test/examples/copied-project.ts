import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROJECT_ROOT } from '../../infra/app-context.ts';

/** A copy of the project whose files a test may change, and `npm start` in it. */
export class CopiedProject {
  readonly path: string;
  #running: ChildProcess | undefined;
  #lines: string[] = [];

  constructor(path: string) {
    this.path = path;
  }

  /** Lines of the last start. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  copy(): void {
    for (const part of ['functions', 'infra', 'shared', 'package.json', 'cdk.json'])
      cpSync(join(PROJECT_ROOT, part), join(this.path, part), { recursive: true });
    symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(this.path, 'node_modules'));
  }

  /** Runs `npm start` without its set-up. Resolves with the URL once it is ready. */
  async start(options: readonly string[]): Promise<string> {
    const running = spawn('npm', ['start', '--ignore-scripts', '--', '--port', '0', ...options], {
      cwd: this.path,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#running = running;
    const lines: string[] = [];
    this.#lines = lines;
    running.stderr.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    // Read to the end: what is saved is reported later.
    createInterface(running.stdout)
      .on('line', (line) => {
        lines.push(line);
        const [, url] = /^ready (\S+)$/u.exec(line) ?? [];
        if (url !== undefined) resolve(url);
      })
      .on('close', () => reject(new Error(`The stack did not start: ${lines.join('\n')}`)));
    return promise;
  }

  /** Signals npm alone, as a supervisor does. A stack left running would lock its data. */
  async stop(): Promise<void> {
    const stopping = this.#running;
    this.#running = undefined;
    if (!stopping || stopping.exitCode !== null) return;
    const gone = new Promise((resolve) => stopping.once('exit', resolve));
    stopping.kill('SIGTERM');
    await gone;
  }
}

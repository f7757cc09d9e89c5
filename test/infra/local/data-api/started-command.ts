import { spawn, type ChildProcess } from 'node:child_process';
import { expect, onTestFinished } from 'vitest';
import { serverLogin } from './with-data-api.ts';

interface StartedCommand {
  readonly child: ChildProcess;
  /** What it has printed so far. */
  output(): string;
  /** Of its endpoint, once that is ready. */
  url(): Promise<string>;
}

/** Starts a file as the command, on a Node of one's choice. It ends with the test, at the latest. */
export function startCommand(node: string, file: string, ...flags: string[]): StartedCommand {
  const child = spawn(node, [file, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return {
    child,
    output: () => text,
    async url() {
      // The line after "ready", which can come by itself.
      await expect.poll(() => text).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+\n[^]*AWS_ENDPOINT_URL_RDS_DATA=\S+\s/mu);
      return /AWS_ENDPOINT_URL_RDS_DATA=(\S+)/u.exec(text)?.[1] ?? '';
    },
  };
}

/** The run's first writer, as the command is told of it. */
export function serverUrl(): string {
  const { host, port, user, password } = serverLogin();
  return `mysql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}`;
}

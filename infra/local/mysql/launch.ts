import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVER_HOST } from './node-status.ts';

/** Longer than a crash recovery of a large log takes. */
const READY_MS = 180_000;
const POLL_MS = 25;
/** Other processes may take the port between our check and the server's. */
const PORT_ATTEMPTS = 10;
const TERMINATE_MS = 20_000;

export interface RunningServer {
  readonly pid: number;
  readonly port: number;
  readonly exited: Promise<void>;
  isRunning(): boolean;
  signal(name: NodeJS.Signals): void;
}

interface LaunchOptions {
  readonly command: readonly string[];
  readonly argumentsFor: (port: number) => readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Its `server.log` gets the server's output. */
  readonly folder: string;
  readonly port: number;
  readonly answers: (port: number) => Promise<void>;
  /** Called as soon as the process exists, so that it can be stopped during its start. */
  readonly started: (server: RunningServer) => void;
}

/** Starts a server and waits until it answers. Rejects with the end of its log if it exits first. */
export async function launch(options: LaunchOptions): Promise<RunningServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = attempt === 1 && options.port !== 0 ? options.port : await freePort();
    const { server, output } = spawnServer(options, port);
    options.started(server);
    if (await answered(server, options.answers)) return server;
    if (server.isRunning()) {
      await stopServer(server);
      throw new Error(
        `the server does not answer after ${READY_MS / 1000} s; its log: ${join(options.folder, 'server.log')}`,
      );
    }
    const text = output();
    if (attempt < PORT_ATTEMPTS && /Address already in use|Bind on TCP\/IP port/.test(text)) continue;
    throw new Error(`the server exited while it was starting:\n${text.trim().split('\n').slice(-12).join('\n')}`);
  }
}

/** Shuts a server down cleanly, even a paused one; kills it after 20 s. */
export async function stopServer(server: RunningServer): Promise<void> {
  server.signal('SIGTERM');
  server.signal('SIGCONT');
  const timer = setTimeout(() => server.signal('SIGKILL'), TERMINATE_MS);
  await server.exited;
  clearTimeout(timer);
}

/** Detached, so that Ctrl-C does not reach it before our clean shutdown. */
function spawnServer(options: LaunchOptions, port: number): { server: RunningServer; output: () => string } {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const logFile = join(options.folder, 'server.log');
  const log = openSync(logFile, 'a', 0o600);
  const before = fstatSync(log).size;
  const [program = '', ...first] = options.command;
  const child = spawn(program, [...first, ...options.argumentsFor(port)], {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: options.folder,
    env: options.environment,
  });
  closeSync(log);
  let failure = '';
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      failure = error.message;
      resolve();
    });
  });
  const isRunning = () => failure === '' && child.exitCode === null && child.signalCode === null;
  return {
    server: {
      pid: child.pid ?? 0,
      port,
      exited,
      isRunning,
      signal: (name) => {
        if (isRunning()) child.kill(name);
      },
    },
    output: () => failure + readFileSync(logFile).subarray(before).toString('utf8'),
  };
}

async function answered(server: RunningServer, answers: (port: number) => Promise<void>): Promise<boolean> {
  const deadline = performance.now() + READY_MS;
  while (server.isRunning() && performance.now() < deadline) {
    try {
      await answers(server.port);
      return server.isRunning();
    } catch {
      await Promise.race([sleep(POLL_MS), server.exited]);
    }
  }
  return false;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, SERVER_HOST);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

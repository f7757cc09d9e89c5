import { fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { FunctionDefinition, FunctionMode } from './function-definition.ts';
import { inOneTurn, TIDY, type AnswerMessage, type CallMessage, type READY, type RunnerStart } from './messages.ts';
import { messageOf } from '../message-of.ts';

export interface Instance {
  readonly pid: number;
  send(message: CallMessage): void;
  /** Collects garbage: an idle heap does not do that by itself. */
  tidy(): void;
  kill(): Promise<void>;
}

interface InstanceEvents {
  readonly onMessage: (message: AnswerMessage | typeof READY) => void;
  /** Called once. */
  readonly onExit: (reason: string) => void;
  readonly onOutput: (chunk: Buffer) => void;
}

/** V8 keeps up to 96 MB for young objects of each heap, and each function has a heap or two. */
const YOUNG_MB = 12;

const RUNNER = new URL('function-runner.ts', import.meta.url);

export function startInstance(
  mode: FunctionMode,
  definition: FunctionDefinition,
  environment: Record<string, string>,
  events: InstanceEvents,
): Instance {
  const { module, exportName, name, title, arn, memoryMb, nodeFlags = [] } = definition;
  const start: RunnerStart = { module, exportName, name, title, arn, memoryMb };
  return mode === 'threads'
    ? startThread(start, environment, events)
    : startProcess(start, nodeFlags, environment, events);
}

function startThread(start: RunnerStart, environment: Record<string, string>, events: InstanceEvents): Instance {
  const worker = new Worker(RUNNER, {
    workerData: start,
    env: environment,
    stdout: true,
    stderr: true,
    execArgv: [],
    // Tools show its first letters.
    name: start.title,
    resourceLimits: { maxOldGenerationSizeMb: start.memoryMb, maxYoungGenerationSizeMb: YOUNG_MB },
  });
  let reason = 'it ended';
  worker.on('message', (messages: readonly (AnswerMessage | typeof READY)[]) => messages.forEach(events.onMessage));
  worker.on('error', (error) => {
    reason = messageOf(error);
    events.onOutput(Buffer.from(`${error instanceof Error ? error.stack : String(error)}\n`));
  });
  const gone = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      events.onExit(`${reason} (code ${code})`);
      resolve();
    });
  });
  forward([worker.stdout, worker.stderr], events);
  return {
    pid: process.pid,
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    send: inOneTurn((messages: readonly CallMessage[]) => worker.postMessage(messages)),
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    tidy: () => worker.postMessage(TIDY),
    async kill() {
      await worker.terminate();
      await gone;
    },
  };
}

function startProcess(
  start: RunnerStart,
  nodeFlags: readonly string[],
  environment: Record<string, string>,
  events: InstanceEvents,
): Instance {
  const child = fork(RUNNER, [JSON.stringify(start)], {
    env: environment,
    execArgv: [`--max-old-space-size=${start.memoryMb}`, ...nodeFlags],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const gone = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      events.onExit(signal ? `killed by ${signal}` : `it ended (code ${code})`);
      resolve();
    });
    child.once('error', (error) => {
      events.onExit(error.message);
      if (child.pid === undefined) resolve();
    });
  });
  child.on('message', (messages: readonly (AnswerMessage | typeof READY)[]) => messages.forEach(events.onMessage));
  forward([child.stdout, child.stderr], events);
  return {
    pid: child.pid ?? 0,
    // The process's exit answers what could not be sent.
    send: inOneTurn((messages: CallMessage[]) => void child.send(messages, () => {})),
    tidy: () => void child.send(TIDY, () => {}),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

function forward(streams: readonly (Readable | null)[], events: InstanceEvents): void {
  for (const stream of streams) stream?.on('data', (chunk: Buffer) => events.onOutput(chunk));
}

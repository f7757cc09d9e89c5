import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { FromProcess } from './process-side.ts';

/** A process at work that can be ended in order, or cut off in the middle of anything. */
export interface KillableProcess<Progress> extends Disposable {
  /** Settled once it works. Rejects if it ends before. */
  readonly ready: Promise<void>;
  /** Its last progress report. */
  readonly progress: Progress | undefined;
  /** Settled once it is gone, however it ended. */
  readonly gone: Promise<void>;
  /** kill -9; returns when it is gone. */
  kill(): Promise<void>;
  /** Asks it to end and waits. Rejects if it fails. */
  stop(): Promise<void>;
}

/**
 * Starts a process on a module that calls `runAsProcess`.
 *
 * @param folder the run's: the command line names it, so that the process is found when the run is cut off
 */
export function startProcess<Input, Progress>(module: URL, folder: string, input: Input): KillableProcess<Progress> {
  const child = fork(module, [join(folder, 'process')], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // Some are killed hundreds of times: their modules are compiled once. A process of a test is no test itself.
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled'), VITEST_WORKER_ID: undefined },
  });
  let progress: Progress | undefined;
  const whenReady = Promise.withResolvers<void>();
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
  });
  // Its messages arrive until then: a process that dies early may be dead before its ready message arrives.
  const heard = new Promise<void>((resolve) => {
    child.once('disconnect', resolve);
  });
  const gone = new Promise<number | null>((resolve) => {
    void Promise.all([exited, heard]).then(([code]) => {
      whenReady.reject(
        new Error(`a process on ${module.pathname} ended with ${code ?? 'a signal'} before it was ready`),
      );
      resolve(code);
    });
  });
  whenReady.promise.catch(() => undefined);
  child.on('message', (message: FromProcess<Progress>) => {
    if ('ready' in message) whenReady.resolve();
    else progress = message.progress;
  });
  // A child that was killed takes no message any more.
  child.on('error', () => undefined);
  child.send(input as object);
  return {
    ready: whenReady.promise,
    get progress() {
      return progress;
    },
    gone: gone.then(() => undefined),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async stop() {
      if (child.connected) child.send('stop');
      const code = await gone;
      if (code !== 0) throw new Error(`a process on ${module.pathname} ended with ${code ?? 'a signal'}, wanted 0`);
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

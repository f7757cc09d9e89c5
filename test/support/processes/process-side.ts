import { flushCompileCache } from 'node:module';

export type FromProcess<Progress> = { readonly ready: true } | { readonly progress: Progress };

/** The controls of a process's work. */
interface ProcessControl<Progress> {
  /** Aborted when it is asked to end in order. */
  readonly signal: AbortSignal;
  /** Reports that everything is open and the work begins; settled once that is sent. */
  ready(): Promise<void>;
  /** Reports progress; settled once that is sent, since reports before a kill count. */
  say(progress: Progress): Promise<void>;
}

/** The one call of a process's module: gets its input, does the work, and ends; also when its parent is gone. */
export async function runAsProcess<Input, Progress>(
  work: (input: Input, control: ProcessControl<Progress>) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  process.on('disconnect', () => process.exit(0));
  // Ctrl-C reaches the whole process group: the parent says when to end.
  process.on('SIGINT', () => undefined);
  const input = await new Promise<Input>((resolve) => {
    process.once('message', (message) => resolve(message as Input));
  });
  process.on('message', () => stop.abort());
  const send = (message: FromProcess<Progress>): Promise<void> =>
    new Promise((resolve) => {
      process.send?.(message, () => resolve());
    });
  const ready = (): Promise<void> => {
    // One that is killed writes nothing at its end.
    flushCompileCache();
    return send({ ready: true });
  };
  await work(input, { signal: stop.signal, ready, say: (progress) => send({ progress }) });
  process.disconnect();
}

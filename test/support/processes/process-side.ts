import { flushCompileCache } from 'node:module';

export type FromProcess<Progress> = { readonly ready: true } | { readonly progress: Progress };

/** What a process's work is told. */
interface ProcessControl<Progress> {
  /** Aborted when it is asked to end in order. */
  readonly signal: AbortSignal;
  /** To be called once everything is open and the work begins; settled once it is on its way. */
  ready(): Promise<void>;
  /** Settled once it is on its way: what a process said before it was killed counts. */
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

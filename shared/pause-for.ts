import { onAbort } from './on-abort.ts';

/** Waits that long, or until the signal. */
export async function pauseFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(end, milliseconds);
    const forget = onAbort(signal, end);
    function end(): void {
      clearTimeout(timer);
      forget();
      resolve();
    }
  });
}

/** Works after each pause, until the signal. */
export async function afterEachPause(milliseconds: number, signal: AbortSignal, work: () => unknown): Promise<void> {
  while (!signal.aborted) {
    await pauseFor(milliseconds, signal);
    if (!signal.aborted) await work();
  }
}

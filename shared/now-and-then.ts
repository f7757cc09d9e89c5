import { pauseFor } from './pause-for.ts';

interface Look {
  readonly everyMs: number;
  readonly look: () => Promise<void>;
  /** Told of the first of failures in a row. */
  readonly failed: (error: unknown) => void;
}

/** Looks at something again and again, until the signal, whether or not it fails. */
export async function nowAndThen({ everyMs, look, failed }: Look, signal: AbortSignal): Promise<void> {
  let failing = false;
  while (!signal.aborted) {
    try {
      await look();
      failing = false;
    } catch (error) {
      if (!failing) failed(error);
      failing = true;
    }
    await pauseFor(everyMs, signal);
  }
}

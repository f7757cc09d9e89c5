import { pauseFor } from '../../pause-for.ts';
import type { TailWork } from './tail-work.ts';

/**
 * Looks at something again and again, every `lagEveryMs`, until the signal. Of failures in a row the first is told.
 *
 * @param what is looked at, for who is told: "looking how far it is"
 */
export async function nowAndThen(
  { settings, report }: Pick<TailWork, 'settings' | 'report'>,
  what: string,
  look: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let failing = false;
  while (!signal.aborted) {
    try {
      await look();
      failing = false;
    } catch (error) {
      if (!failing) report({ kind: 'failed', what, error });
      failing = true;
    }
    await pauseFor(settings.lagEveryMs, signal);
  }
}

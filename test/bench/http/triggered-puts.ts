import type { TriggerOperations } from '../../../shared/api/triggers.ts';
import { closedLoop } from '../../support/pace.ts';
import { median } from '../side-by-side.ts';

/** Puts of a column a second, at the median of the rounds. */
interface TriggeredPuts {
  /** The rate while the trigger calls its function for each cell. */
  readonly triggered: number;
  /** The rate while the trigger is paused. */
  readonly resting: number;
}

interface TriggeredPutsOptions {
  readonly trigger: string;
  readonly put: () => Promise<unknown>;
  readonly callers: number;
  readonly signal: AbortSignal;
}

const ROUNDS = 3;
/** The time until the tailer notices a switch, and calls under way have ended. */
const SETTLE_MS = 2000;
const ROUND_MS = 4000;

/**
 * Puts with and without a trigger in turn. Cells written while it is paused are not its work afterwards: it begins with
 * later ones. If it is slower than the puts, it falls behind and is busy all the time.
 */
export async function triggeredPuts(
  client: Pick<TriggerOperations, 'pauseTrigger' | 'rewindTrigger' | 'resumeTrigger'>,
  { trigger, put, callers, signal }: TriggeredPutsOptions,
): Promise<TriggeredPuts> {
  const [triggered, resting]: [number[], number[]] = [[], []];
  async function perSecond(): Promise<number> {
    await closedLoop({ clients: callers, milliseconds: SETTLE_MS, send });
    let done = 0;
    const start = performance.now();
    await closedLoop({
      clients: callers,
      milliseconds: ROUND_MS,
      async send() {
        await send();
        done += 1;
      },
    });
    return (done * 1000) / (performance.now() - start);
  }
  async function send(): Promise<void> {
    signal.throwIfAborted();
    await put();
  }
  for (let round = 0; round <= ROUNDS; round += 1) {
    await client.pauseTrigger({ trigger, reason: 'a measurement' });
    resting.push(await perSecond());
    // The first and last rounds run without it, so that a slowing machine affects both kinds alike.
    if (round === ROUNDS) break;
    await client.rewindTrigger({ trigger, to: new Date().toISOString() });
    await client.resumeTrigger({ trigger });
    triggered.push(await perSecond());
  }
  return { triggered: median(triggered), resting: median(resting) };
}

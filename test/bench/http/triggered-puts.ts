import type { TriggerOperations } from '../../../shared/api/triggers.ts';
import { closedLoop } from '../../support/pace.ts';
import { median } from '../side-by-side.ts';

/** Puts of a column a second, at the median of the rounds. */
interface TriggeredPuts {
  /** While its trigger calls its function for each. */
  readonly triggered: number;
  /** While it is paused. */
  readonly resting: number;
}

interface TriggeredPutsOptions {
  readonly trigger: string;
  readonly put: () => Promise<unknown>;
  readonly callers: number;
  readonly signal: AbortSignal;
}

const ROUNDS = 3;
/** Until the tailer has heard of a switch, and calls under way have ended. */
const SETTLE_MS = 2000;
const ROUND_MS = 4000;

/**
 * Puts with and without a trigger in turn. What is written while it is paused is not its work afterwards: it begins with
 * what is written then, but falls behind that where it is slower than the puts, which is then its work all the time.
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
    // It begins and ends with rounds without, so that a machine that gets slower meanwhile does so for both.
    if (round === ROUNDS) break;
    await client.rewindTrigger({ trigger, to: new Date().toISOString() });
    await client.resumeTrigger({ trigger });
    triggered.push(await perSecond());
  }
  return { triggered: median(triggered), resting: median(resting) };
}

import type { ConsumeEvent } from '../../shared/triggers/consume/consumer.ts';
import { METRICS } from '../../shared/metrics.ts';
import { eventMessage } from '../environment/event-message.ts';
import { logger, count } from '../environment/log.ts';

const COUNTED: Partial<Record<ConsumeEvent['kind'], string>> = {
  consumed: METRICS.triggerConsumed,
  failed: METRICS.triggerFailed,
  parked: METRICS.triggerParked,
  retry_failed: METRICS.triggerRetryFailed,
  malformed: METRICS.triggerMalformed,
  stopped: METRICS.triggerStopped,
};

/**
 * Returns the consumers' report: it logs at once, and writes counters with each `flush`. `metrics`: whether it prints
 * counters on standard output @default true.
 */
export function consumedReport(
  trigger: string,
  metrics = true,
): {
  readonly report: (event: ConsumeEvent) => void;
  readonly flush: (requestId?: string) => void;
} {
  let counted: string[] = [];
  return {
    report(event) {
      log(trigger, event);
      const name = COUNTED[event.kind];
      if (metrics && name !== undefined) counted.push(name);
    },
    flush(requestId) {
      const names = counted;
      counted = [];
      count(names, requestId);
    },
  };
}

function log(trigger: string, event: ConsumeEvent): void {
  if (event.kind === 'consumed' || event.kind === 'repeated' || event.kind === 'void' || event.kind === 'returned')
    // Each cell comes here: no message is made that is not logged.
    logger.debug(event.kind, { trigger, event });
  else if (event.kind === 'stopped') logger.error(eventMessage(event, trigger), { trigger });
  else {
    const { stack, ...rest }: ConsumeEvent & { readonly stack?: string | undefined } = event;
    // `npm run local -- logs` shows a stack here, and none within an event.
    logger.warn(eventMessage(event, trigger), { trigger, event: rest, stack });
  }
}

import type { ConsumeEvent } from '../../shared/triggers/consume/consumer.ts';
import { METRICS } from '../../shared/metrics.ts';
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
 * Returns where consumers report to: the log at once, and counters with each `flush`. `metrics`: whether counters are
 * printed on standard output @default true.
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
    logger.debug('trigger', { trigger, event });
  else if (event.kind === 'stopped') logger.error('trigger stopped', { trigger });
  else logger.warn('trigger', { trigger, event });
}

import type { ConsumeEvent } from '../../shared/triggers/consume/consumer.ts';
import { METRICS } from '../../shared/metrics.ts';
import { logger } from '../environment/log.ts';
import { count } from '../environment/metrics.ts';

const COUNTED: Partial<Record<ConsumeEvent['kind'], string>> = {
  consumed: METRICS.triggerConsumed,
  failed: METRICS.triggerFailed,
  parked: METRICS.triggerParked,
  retry_failed: METRICS.triggerRetryFailed,
  malformed: METRICS.triggerMalformed,
  stopped: METRICS.triggerStopped,
};

/**
 * Where consumers report to: the log at once, and counters with every `flush`, since there is one of them for each
 * cell.
 */
export function consumedReport(trigger: string): {
  readonly report: (event: ConsumeEvent) => void;
  readonly flush: (requestId?: string) => void;
} {
  let counted: string[] = [];
  return {
    report(event) {
      log(trigger, event);
      const name = COUNTED[event.kind];
      if (name !== undefined) counted.push(name);
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

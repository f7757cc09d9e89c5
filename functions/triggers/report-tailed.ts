import type { FollowEvent } from '../../shared/follow/follower.ts';
import { METRICS } from '../../shared/metrics.ts';
import type { TailEvent } from '../../shared/triggers/send/tail-work.ts';
import { eventMessage } from '../environment/event-message.ts';
import { logger, countTimes, gauge } from '../environment/log.ts';

/** The interval between lines of counts of one kind: cells are sent many times a second. */
const EVERY_MS = 10_000;

/** Returns the report of `tail-shards`: it logs and gauges at once, and counts every 10 s and with `flush`. */
export function tailReport(): { readonly report: (event: TailEvent) => void; readonly flush: () => void } {
  let counts = new Map<string, number>();
  let since = performance.now();

  function flush(): void {
    const written = counts;
    counts = new Map();
    since = performance.now();
    countTimes(written);
  }

  return {
    report(event) {
      if (event.kind === 'lag') {
        gauge({
          [METRICS.triggerLagCells]: event.cells,
          [METRICS.triggerLagSeconds]: event.seconds,
          [METRICS.triggerUnsentCells]: event.unsentCells,
          [METRICS.triggerUnsentSeconds]: event.unsentSeconds,
        });
        return;
      }
      if (event.kind === 'troubles') {
        gauge({
          [METRICS.triggerStoppedNow]: Number(event.isStopped),
          [METRICS.triggerParkedNow]: event.parked,
          [METRICS.triggerMalformedNow]: event.malformed,
        });
        return;
      }
      log(event);
      const [name, times] = counted(event);
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + times);
      if (performance.now() - since >= EVERY_MS) flush();
    },
    flush,
  };
}

function counted(event: TailEvent): readonly [string | undefined, number] {
  switch (event.kind) {
    case 'sent':
      return [METRICS.triggerSent, event.cells];
    case 'retried':
      return [METRICS.triggerRetried, event.cells];
    case 'send_failed':
      return [METRICS.triggerSendFailed, 1];
    case 'followed':
      if (event.event.kind === 'hole') return [METRICS.logHole, 1];
      return event.event.kind === 'cut' ? [METRICS.logCut, 1] : [undefined, 0];
    default:
      return [undefined, 0];
  }
}

function log(event: TailEvent): void {
  if (event.kind === 'sent') return;
  if (event.kind === 'followed') logFollowed(event, event.event);
  else if (
    event.kind === 'failed' ||
    event.kind === 'send_failed' ||
    event.kind === 'held_back' ||
    event.kind === 'resent'
  )
    logger.warn(eventMessage(event, event.trigger), { event });
  else logger.info(eventMessage(event, event.trigger), { event });
}

function logFollowed(event: TailEvent, { kind }: FollowEvent): void {
  // Partitions change hands every minute.
  if (kind.startsWith('partition_')) logger.debug(eventMessage(event, event.trigger), { event });
  // Such a long hole, or a log that lost cells, needs an operator.
  else if (kind === 'hole' || kind === 'cut') logger.error(eventMessage(event, event.trigger), { event });
  else logger.warn(eventMessage(event, event.trigger), { event });
}

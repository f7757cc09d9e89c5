import type { FollowEvent } from '../../shared/follow/follower.ts';
import { METRICS } from '../../shared/metrics.ts';
import type { TailEvent } from '../../shared/triggers/send/tail-work.ts';
import { logger, countTimes, gauge } from '../environment/log.ts';

/** Counts of one kind are written so often, as one line: cells are sent many times a second. */
const EVERY_MS = 10_000;

/** Returns where `tail-shards` reports to: the log and gauges at once, counts now and then and with `flush`. */
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
    logger.warn('tail', { event });
  else logger.info('tail', { event });
}

function logFollowed(event: TailEvent, { kind }: FollowEvent): void {
  // Partitions change hands every minute.
  if (kind.startsWith('partition_')) logger.debug('tail', { event });
  // Such a long hole, or a log that lost cells, needs an operator.
  else if (kind === 'hole' || kind === 'cut') logger.error('tail', { event });
  else logger.warn('tail', { event });
}

import { committedPlaces } from '../../follow/follower-lag.ts';
import { pauseFor } from '../../pause-for.ts';
import { requireDatastore } from '../../access/groups.ts';
import { isFurther, type ConsumedPlace } from '../state/consumed-marks.ts';
import { triggerFollower } from '../state/follower-name.ts';
import { isUnsound, KEPT_MS, safeHaltMs, TOLD_IN_TIME } from '../state/queue-limits.ts';
import { aimOf, resendUnconsumed } from '../state/resend.ts';
import { writeDeadSeen } from '../state/trigger-status.ts';
import { isAtWork, type TriggerStatus } from '../state/trigger-store.ts';
import type { TailRun } from './tail-run.ts';
import type { TailWatches } from './tail-follower.ts';
import type { TailWork } from './tail-work.ts';
import { isSameQueue } from '../state/same-queue.ts';

type MindedRun = Pick<TailRun, 'context' | 'stateTable' | 'slot'>;

/**
 * Looks whether a trigger's queue still has what was sent to it and not consumed. Where it cannot be trusted, since it
 * was replaced or SQS moved messages to the last queue, all that is not known to be consumed is sent again; so is what
 * others want sent again. Where it was empty for long enough, all that was sent is known to be consumed.
 *
 * Every worker looks at the queue's address; the rest one of them does for all. Until the signal.
 */
export async function mindQueue(
  work: TailWork,
  run: MindedRun,
  watches: TailWatches,
  signal: AbortSignal,
): Promise<void> {
  const { settings, report } = work;
  const minder = queueMinder(work, run, watches);
  let failing = false;
  while (!signal.aborted) {
    try {
      await minder.look();
      failing = false;
    } catch (error) {
      if (!failing) report({ kind: 'failed', what: 'looking whether its queue has all', error });
      failing = true;
    }
    await pauseFor(settings.lookMs, signal);
  }
}

function queueMinder(work: TailWork, run: MindedRun, { watch, depth }: TailWatches) {
  const { datastore, deployed, queues, store, settings, report } = work;
  const { definition, queueUrl, parkedQueueUrl } = deployed;
  const name = { datastore, trigger: definition.name };
  const soundEveryMs = safeHaltMs(definition) / TOLD_IN_TIME;
  let otherSince: number | undefined;
  let deadAt = Number.NEGATIVE_INFINITY;
  let soundAt = Number.NEGATIVE_INFINITY;
  let sent: { readonly places: ReadonlyMap<number, ConsumedPlace>; readonly at: number } | undefined;

  const deadNow = async (): Promise<number> => (parkedQueueUrl === '' ? 0 : queues.depth(parkedQueueUrl));
  const shards = async (): Promise<number> => (await requireDatastore(run.context.topology, datastore)).shards;

  /** Whether cells go, or are to go again, to the queue that is deployed. */
  async function isAimed(status: TriggerStatus): Promise<boolean> {
    const aim = aimOf(status);
    if (isSameQueue(aim, queueUrl)) {
      otherSince = undefined;
      return true;
    }
    if (aim === undefined)
      await store.beginQueue(
        queueUrl,
        (status.state === 'running' ? undefined : status.changed_at) ?? new Date().toISOString(),
      );
    else {
      // A worker that has not read yet where the queue is now is not to lead the cells back to the old one. A deploy
      // that wanted them on another queue may have been taken back.
      otherSince ??= performance.now();
      if (performance.now() - otherSince < 2 * settings.listMs) return false;
      await store.wantResend({ why: 'its queue was replaced', seen: status, queueUrl });
    }
    await watch.look();
    return false;
  }

  async function resend(): Promise<void> {
    if (
      !(await resendUnconsumed({
        stateTable: run.stateTable,
        name,
        shards: await shards(),
        queueUrl,
        dead: await deadNow(),
      }))
    )
      return;
    report({ kind: 'resent' });
    await watch.look();
  }

  /** Where our function consumes, nothing but a queue that was left alone gives up on messages. */
  async function lookAtDead(status: TriggerStatus): Promise<void> {
    const seen = status.dead_seen ?? 0;
    const dead = await deadNow();
    // What a resend left in the queue is void, and has been received nearly as often as SQS lets it be.
    const isLeft =
      status.resend?.done_at !== undefined && Date.now() - Date.parse(status.resend.done_at) < safeHaltMs(definition);
    if (dead < seen || (dead > seen && isLeft)) await writeDeadSeen(run.stateTable, name, dead);
    else if (dead > seen && definition.function !== undefined && status.state === 'running') {
      await wishAgain(`SQS moved ${dead - seen} messages to the last queue`, status);
    }
  }

  async function wishAgain(why: string, seen: TriggerStatus): Promise<void> {
    await store.wantResend({ why, seen });
    await watch.look();
  }

  async function confirmSound(): Promise<void> {
    if (performance.now() - soundAt < soundEveryMs) return;
    await store.confirmSound();
    soundAt = performance.now();
  }

  /** What was committed before the queue was found empty had been sent before. */
  async function lookAtEmpty(status: TriggerStatus): Promise<void> {
    const empty = depth.empty();
    if (!empty) sent = undefined;
    else if (!sent) sent = { places: await sentPlaces(), at: performance.now() };
    else if (empty.at - Math.max(empty.since, sent.at) >= settings.emptyMs) {
      // Messages that nobody consumed for as long as they may wait may have expired, which leaves a queue as empty.
      if (isUnsound(status, definition.function === undefined ? KEPT_MS : safeHaltMs(definition)))
        return wishAgain('its messages were not consumed for longer than is safe', status);
      await store.consumed.raise(sent.places);
      sent = undefined;
      await confirmSound();
    }
  }

  async function sentPlaces(): Promise<ReadonlyMap<number, ConsumedPlace>> {
    const places = await committedPlaces(
      run.stateTable,
      { name: triggerFollower(definition.name), datastore },
      await shards(),
    );
    const marks = await store.consumed.read(places.keys().toArray());
    return new Map(
      places.flatMap((place, shard): [number, ConsumedPlace][] => {
        const mark = marks.get(shard);
        return !place || !mark || !isFurther(place, mark)
          ? []
          : [[shard, { generation: place.generation, added_id: place.added_id, fingerprint: place.fingerprint }]];
      }),
    );
  }

  return {
    async look(): Promise<void> {
      const status = watch.status();
      if (!status) return;
      if (!isAtWork(status)) sent = undefined;
      if (!(await isAimed(status)) || run.slot !== 0) return;
      if (status.resend?.id !== undefined) return resend();
      if (performance.now() - deadAt >= settings.lagEveryMs) {
        await lookAtDead(status);
        deadAt = performance.now();
      }
      // While it is halted nothing tells a queue that was emptied by its consumers from one that was purged.
      if (isAtWork(status)) await lookAtEmpty(status);
    },
  };
}

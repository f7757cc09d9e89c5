import { committedLocations } from '../../follow/follower-lag.ts';
import { requireDatastore } from '../../access/groups.ts';
import { isFurther, type ConsumedLocation, type EmptiedQueue } from '../state/consumed-marks.ts';
import { triggerFollower } from '../state/trigger-items.ts';
import type { FollowerName } from '../../follow/follower-item.ts';
import { CLOCKS_DIFFER_MS, isSoundDue, isUnsound, KEPT_MS, safeHaltMs } from '../state/queue-limits.ts';
import { aimOf, resendUnconsumed } from '../state/resend.ts';
import { isAtWork, type TriggerStatus } from '../state/trigger-store.ts';
import type { TailRun, TailWork } from './tail-work.ts';
import type { TailWatches } from './tail-follower.ts';
import { deadIn, isSameQueue } from '../state/queues.ts';

/**
 * Shards recorded of an empty queue: at 20 bytes each they fit into an item, and other ones follow with the next
 * record.
 */
const MOST_EMPTIED = 10_000;

type MindedRun = Pick<TailRun, 'context' | 'stateTable' | 'slot'>;

interface MindedWatches {
  readonly watch: Pick<TailWatches['watch'], 'status' | 'poll'>;
  readonly depth: Pick<TailWatches['depth'], 'found'>;
}

/**
 * Checks whether a trigger's queue still has what was sent to it and not consumed. If the queue was replaced, or SQS
 * moved
 * messages to the last queue, all that is not known to be consumed is sent again, as it is on request. If the queue was
 * empty for long enough, all that was sent is known to be consumed.
 *
 * Every worker checks the queue's address; one of them does the rest for all.
 */
export class QueueMinder {
  readonly #work: TailWork;
  readonly #run: MindedRun;
  readonly #watches: MindedWatches;
  readonly #follower: FollowerName;
  #otherSince: number | undefined;
  #deadAt = Number.NEGATIVE_INFINITY;
  /** As stored: null if there is none, undefined before it is read. */
  #emptied: EmptiedQueue | null | undefined;

  constructor(work: TailWork, run: MindedRun, watches: MindedWatches) {
    this.#work = work;
    this.#run = run;
    this.#watches = watches;
    this.#follower = { name: triggerFollower(work.deployed.definition.name), datastore: work.datastore };
  }

  async poll(): Promise<void> {
    const status = this.#watches.watch.status();
    if (!status) return;
    if (!(await this.#isAimed(status)) || this.#run.slot !== 0) return;
    if (status.resend?.id !== undefined) return this.#resend();
    if (performance.now() - this.#deadAt >= this.#work.settings.lagEveryMs) {
      await this.#checkDeadLetters(status);
      this.#deadAt = performance.now();
    }
    // During a halt, a queue that consumers emptied cannot be told from one that was purged.
    if (isAtWork(status)) await this.#checkEmpty(status);
  }

  /** Whether cells go, or will go again, to the deployed queue. */
  async #isAimed(status: TriggerStatus): Promise<boolean> {
    const { deployed, store, settings } = this.#work;
    const { queueUrl } = deployed;
    const aim = aimOf(status);
    if (isSameQueue(aim, queueUrl)) {
      this.#otherSince = undefined;
      return true;
    }
    if (aim === undefined)
      await store.beginQueue(
        queueUrl,
        (status.state === 'running' ? undefined : status.changed_at) ?? new Date().toISOString(),
      );
    else {
      // A worker that has not read the deployed queue yet must not lead the cells back to the old one. A deploy that
      // asked for another queue may have been rolled back.
      this.#otherSince ??= performance.now();
      if (performance.now() - this.#otherSince < 2 * settings.listMs) return false;
      await store.wantResend({ why: 'its queue was replaced', seen: status, queueUrl });
    }
    await this.#watches.watch.poll();
    return false;
  }

  async #resend(): Promise<void> {
    const isResent = await resendUnconsumed({
      stateTable: this.#run.stateTable,
      follower: this.#follower,
      store: this.#work.store,
      shards: await this.#shards(),
      queueUrl: this.#work.deployed.queueUrl,
      dead: await this.#deadNow(),
    });
    if (!isResent) return;
    this.#work.report({ kind: 'resent' });
    await this.#watches.watch.poll();
  }

  /** With a deployed function, a queue gives up on messages only if it was left alone. */
  async #checkDeadLetters(status: TriggerStatus): Promise<void> {
    const { definition } = this.#work.deployed;
    const seen = status.dead_seen ?? 0;
    const dead = await this.#deadNow();
    // Messages that a resend left in the queue are void, and were received nearly as often as SQS allows.
    const isLeft =
      status.resend?.done_at !== undefined && Date.now() - Date.parse(status.resend.done_at) < safeHaltMs(definition);
    if (dead < seen || (dead > seen && isLeft)) await this.#work.store.writeDeadSeen(dead);
    else if (dead > seen && definition.function !== undefined && status.state === 'running') {
      await this.#wantAgain(`SQS moved ${dead - seen} messages to the last queue`, status);
    }
  }

  /**
   * All that was sent before a poll found the queue empty is consumed, unless a later poll, by any worker, finds a
   * message.
   */
  async #checkEmpty(status: TriggerStatus): Promise<void> {
    const { store, settings, deployed } = this.#work;
    const { definition } = deployed;
    const found = this.#watches.depth.found();
    if (!found) return;
    if (this.#emptied === undefined) this.#emptied = (await store.emptied.read()) ?? null;
    const age = found.at - (this.#emptied?.at ?? found.at);
    // After a halt the queue may have been purged.
    const isOver = found.messages > 0 || this.#emptied?.changed_at !== status.changed_at || age < -CLOCKS_DIFFER_MS;
    if (this.#emptied && isOver) return this.#forgetEmptied();
    if (found.messages > 0) return;
    if (!this.#emptied) return this.#recordEmptied(status);
    if (age < settings.emptyMs) return;
    // Messages that waited for too long may have expired, which leaves the queue just as empty.
    if (isUnsound(status, definition.function === undefined ? KEPT_MS : safeHaltMs(definition)))
      return this.#wantAgain('its messages were not consumed for longer than is safe', status);
    await store.consumed.raise(new Map(this.#emptied.sent));
    if (isSoundDue(status, safeHaltMs(definition))) await store.confirmSound();
    await this.#forgetEmptied();
  }

  /** Offsets committed before they are read had been sent before. */
  async #recordEmptied(status: TriggerStatus): Promise<void> {
    const { store, deployed } = this.#work;
    const all = [...(await this.#sentLocations())];
    const from = Math.floor(Math.random() * all.length);
    const sent = [...all.slice(from), ...all].slice(0, Math.min(all.length, MOST_EMPTIED));
    const emptied = { at: Date.now(), changed_at: status.changed_at, sent };
    // If it would tell nothing new, it need not outlive this worker.
    if (sent.length > 0 || isSoundDue(status, safeHaltMs(deployed.definition))) await store.emptied.write(emptied);
    this.#emptied = emptied;
  }

  async #forgetEmptied(): Promise<void> {
    await this.#work.store.emptied.forget();
    this.#emptied = null;
  }

  async #sentLocations(): Promise<ReadonlyMap<number, ConsumedLocation>> {
    const locations = await committedLocations(this.#run.stateTable, this.#follower, await this.#shards());
    const marks = await this.#work.store.consumed.read(locations.keys().toArray());
    const sent = new Map<number, ConsumedLocation>();
    for (const [shard, location] of locations.entries()) {
      const mark = marks.get(shard);
      if (!location || !mark || !isFurther(location, mark)) continue;
      const { generation, added_id, fingerprint } = location;
      sent.set(shard, { generation, added_id, fingerprint });
    }
    return sent;
  }

  async #wantAgain(why: string, seen: TriggerStatus): Promise<void> {
    await this.#work.store.wantResend({ why, seen });
    await this.#watches.watch.poll();
  }

  #deadNow(): Promise<number> {
    return deadIn(this.#work.queues, this.#work.deployed);
  }

  async #shards(): Promise<number> {
    return (await requireDatastore(this.#run.context.topology, this.#work.datastore)).shards;
  }
}

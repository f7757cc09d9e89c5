import { setTimeout as sleep } from 'node:timers/promises';
import type { Follower, LogPlace } from '../follow/follower.ts';
import { triggerFollower } from '../trigger/follower-name.ts';
import { deduplicationId, encodeMessage, groupId, toMessage } from '../trigger/queue-message.ts';
import type { TriggerStatus } from '../trigger/trigger-store.ts';
import type { QueueMessage } from './queue-client.ts';
import { sendInOrder, type SendInOrder, type Sent } from './send-in-order.ts';
import type { TailWork } from './tail-work.ts';
import type { DepthWatch } from './watch-depth.ts';
import type { TriggerWatch } from './watch-trigger.ts';

/** Follows the logs for a trigger: a cell is done once the trigger's queue has it. */
export function tailFollower(work: TailWork, watch: TriggerWatch, depth: DepthWatch): Follower {
  const { datastore, deployed, settings, protections, report } = work;
  const { definition, queueUrl } = deployed;
  const name = { datastore, trigger: definition.name };
  const generations = knownGenerations(watch);
  const isOpen = sendingGate(work, watch, depth);
  let failing = false;

  async function send(cells: readonly LogPlace[], status: TriggerStatus, forMs: number): Promise<Sent> {
    const how: SendInOrder = {
      send: (messages) => work.queues.send(queueUrl, messages),
      toMessage: (cell): QueueMessage => ({ body: encodeMessage(toMessage(cell, name, status)), groupId: groupId(cell.shard), deduplicationId: deduplicationId(cell) }),
      sideBySide: settings.sendsSideBySide,
      forMs,
      ...(protections.resendFromFirst ? {} : { ofAShard: 10 }),
    };
    const sent = await sendInOrder(how, cells);
    depth.add(sent.cells.length);
    if (sent.cells.length > 0) report({ kind: 'sent', cells: sent.cells.length, replays: sent.cells.filter((cell) => toMessage(cell, name, status).replay).length });
    if (sent.failure !== undefined && !failing) report({ kind: 'send_failed', error: sent.failure });
    failing = sent.failure !== undefined;
    return sent;
  }

  return {
    name: triggerFollower(definition.name),
    datastore,
    start: definition.start,
    ...(definition.columns ? { columns: definition.columns } : {}),
    wants: (shard, after) => {
      const limit = watch.limitOf(shard, after);
      return isOpen() && after < limit;
    },
    async handle(_group, cells) {
      const status = watch.status();
      if (!status || !isOpen()) return new Map();
      const limits = new Map<number, number>();
      for (const { shard, added_id, generation } of cells) if (!limits.has(shard)) limits.set(shard, generations.covers(shard, generation) ? watch.limitOf(shard, added_id - 1) : 0);
      const sendable = cells.filter(({ shard, added_id }) => added_id <= (limits.get(shard) ?? 0));
      if (protections.commitAfterSend) return (await send(sendable, status, settings.sendForMs)).done;
      // The control: offsets are committed, and then it is sent.
      void sleep(settings.commitEveryMs).then(() => send(sendable, status, settings.commitEveryMs));
      return new Map(sendable.map(({ shard, added_id }) => [shard, added_id]));
    },
  };
}

/** Whether cells may be sent at all; tells when that changes. */
function sendingGate({ settings, report }: TailWork, watch: TriggerWatch, depth: DepthWatch): () => boolean {
  let told: string | undefined;
  return () => {
    const status = watch.status();
    if (!status) return false;
    const full = depth.isFull() ? `its queue holds ${settings.depthLimit} messages or more` : undefined;
    const why = status.state === 'running' ? full : [`it is ${status.state}`, ...(status.reason === undefined ? [] : [status.reason])].join(': ');
    if (why !== told) report(why === undefined ? { kind: 'goes_on' } : { kind: 'held_back', why });
    told = why;
    return why === undefined;
  };
}

/**
 * Which shards' generations the status is newer than. A rewind writes its time into the status and then raises
 * generations: a status from before would let replays pass for new cells.
 */
function knownGenerations(watch: TriggerWatch): { covers(shard: number, generation: number): boolean } {
  const seen = new Map<number, { readonly generation: number; readonly at: number }>();
  return {
    covers(shard, generation) {
      if (generation === 0) return true;
      const known = seen.get(shard);
      const at = known?.generation === generation ? known.at : performance.now();
      seen.set(shard, { generation, at });
      if (watch.askedAt() > at) return true;
      void watch.look();
      return false;
    },
  };
}

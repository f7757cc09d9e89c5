import type { Follower, LogEntry } from '../../follow/follower.ts';
import { triggerFollower } from '../state/trigger-items.ts';
import { deduplicationId, encodeMessage, groupId, toMessage } from '../state/queue-message.ts';
import type { TriggerMessage, TriggerStatus } from '../state/trigger-store.ts';
import type { KnownMarks } from './known-marks.ts';
import { type QueueMessage, isSameQueue } from '../state/queues.ts';
import { sendInOrder, type SendInOrder, type Sent } from './send-in-order.ts';
import type { TailWork } from './tail-work.ts';
import type { DepthWatch, TriggerWatch } from './watch-trigger.ts';

export interface TailWatches {
  readonly watch: Pick<TriggerWatch, 'status' | 'limitOf' | 'troubled' | 'poll'>;
  readonly depth: DepthWatch;
  readonly marks: KnownMarks;
}

/** Follows the logs for a trigger: a cell is done once the trigger's queue has it. */
export function tailFollower(work: TailWork, watches: TailWatches): Follower {
  const { watch, depth, marks } = watches;
  const { datastore, deployed, settings, report } = work;
  const { definition, queueUrl } = deployed;
  const name = { datastore, trigger: definition.name };
  const isOpen = sendingGate(work, watches);
  /** The added id up to which each shard was sent when it was read. */
  const lastSent = new Map<number, number>();
  let failing = false;

  const messageOf = (cell: LogEntry): TriggerMessage =>
    toMessage(cell, name, marks.replayedTo(cell.shard, cell.generation) ?? 0);

  async function send(cells: readonly LogEntry[]): Promise<Sent['done']> {
    const how: SendInOrder = {
      send: (messages) => work.queues.send(queueUrl, messages),
      toMessage: (cell): QueueMessage => ({
        body: encodeMessage(messageOf(cell)),
        groupId: groupId(cell.shard),
        deduplicationId: deduplicationId(cell),
      }),
      sideBySide: settings.sendsSideBySide,
      forMs: settings.sendForMs,
    };
    const sent = await sendInOrder(how, cells);
    depth.add(sent.cells.length);
    if (sent.cells.length > 0)
      report({
        kind: 'sent',
        cells: sent.cells.length,
        replays: sent.cells.filter((cell) => messageOf(cell).replay).length,
      });
    if (sent.failure !== undefined && !failing) report({ kind: 'send_failed', error: sent.failure });
    failing = sent.failure !== undefined;
    return sent.done;
  }

  return {
    name: triggerFollower(definition.name),
    datastore,
    start: definition.start,
    ...(definition.columns ? { columns: definition.columns } : {}),
    wants: (shard, offset) => {
      // Cells of other columns do not count towards the limit.
      const sent = offset.given ?? offset.added_id;
      lastSent.set(shard, sent);
      const limit = watch.limitOf(shard, sent);
      return isOpen() && marks.has(shard, offset) && sent < limit;
    },
    async handle(_group, cells) {
      if (!isOpen()) return new Map();
      const limits = new Map<number, number>();
      const sentUpTo = new Map(lastSent);
      const sendable = cells.filter(({ shard, added_id, generation }) => {
        const sent = sentUpTo.get(shard) ?? added_id - 1;
        const limit =
          limits.get(shard) ?? (marks.replayedTo(shard, generation) === undefined ? 0 : watch.limitOf(shard, sent));
        limits.set(shard, limit);
        if (sent >= limit) return false;
        sentUpTo.set(shard, added_id);
        return true;
      });
      return send(sendable);
    },
  };
}

/** Returns whether cells may be sent at all, and reports when that changes. */
function sendingGate({ settings, deployed, report }: TailWork, { watch, depth }: TailWatches): () => boolean {
  let told: string | undefined;
  return () => {
    const status = watch.status();
    // A new trigger gets its queue in a moment: that is no reason to report.
    if (!status || (status.queue_url === undefined && haltOf(status) === undefined)) return false;
    const full = depth.isFull() ? `its queue holds ${settings.depthLimit} messages or more` : undefined;
    const elsewhere = isSameQueue(status.queue_url, deployed.queueUrl)
      ? undefined
      : 'its queue is not the one that it was sent to before';
    const why = haltOf(status) ?? elsewhere ?? full;
    if (why !== told) report(why === undefined ? { kind: 'continues' } : { kind: 'held_back', why });
    told = why;
    return why === undefined;
  };
}

function haltOf({ state, reason, resend }: TriggerStatus): string | undefined {
  if (state !== 'running') return [`it is ${state}`, ...(reason === undefined ? [] : [reason])].join(': ');
  return resend?.id === undefined ? undefined : `cells not known to be consumed are to be sent again: ${resend.why}`;
}

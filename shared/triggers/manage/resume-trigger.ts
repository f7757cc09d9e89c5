import type { ManagedTrigger } from './managed-trigger.ts';
import { overQueue } from './unavailable.ts';
import { isUnsound, KEPT_MS, safeHaltMs } from '../state/queue-limits.ts';
import { aimOf, resendUnconsumed } from '../state/resend.ts';
import type { TriggerStatus } from '../state/trigger-store.ts';
import { deadIn, isSameQueue } from '../state/queues.ts';

/**
 * Resumes a halted trigger. It continues with its queue if that is known to have all messages, else from the oldest
 * cell of each shard that is not known to be consumed. Throws SchemalessError `unavailable` if its queue cannot be
 * reached: then it stays halted.
 */
export async function resumeTrigger(trigger: ManagedTrigger): Promise<void> {
  const { stateTable, deployed, topology, follower, store } = trigger;
  const status = await store.status();
  if (status.state !== 'running') {
    const { queueUrl } = deployed;
    const dead = await overQueue(() => deadIn(trigger.queues, deployed));
    const why = await whyResend(trigger, status, dead);
    if (why !== undefined)
      await store.wantResend({ why, seen: status, ...(!isSameQueue(aimOf(status), queueUrl) && { queueUrl }) });
    // Another request may have come for one.
    await resendUnconsumed({ stateTable, follower, store, shards: topology.shards, queueUrl, dead });
  }
  await store.resume();
}

/** Returns why the queue may lack messages that were not consumed; undefined if it has all. */
async function whyResend(trigger: ManagedTrigger, status: TriggerStatus, dead: number): Promise<string | undefined> {
  const { definition, deployed, queues } = trigger;
  const { sound_at, changed_at, dead_seen = 0 } = status;
  const aim = aimOf(status);
  // Nothing was ever sent.
  if (aim === undefined) return undefined;
  if (!isSameQueue(aim, deployed.queueUrl)) return 'its queue was replaced';
  // A consumer elsewhere was not known to consume before the halt, either.
  const since =
    definition.function === undefined
      ? [sound_at, changed_at]
          .filter((time) => time !== undefined)
          .toSorted()
          .at(-1)
      : (sound_at ?? changed_at);
  if (since !== undefined && Date.now() - Date.parse(since) > (trigger.safeHaltMs ?? safeHaltMs(definition)))
    return `its messages were not consumed for longer than is safe, since ${since}`;
  if (definition.function === undefined && isUnsound(status, KEPT_MS))
    return `its queue was not empty for as long as it keeps messages, since ${sound_at}`;
  // The last queue of a consumer elsewhere has what that failed on, whether the trigger runs or not.
  if (definition.function !== undefined && dead > dead_seen)
    return `SQS moved ${dead - dead_seen} messages to the last queue`;
  // Offsets are written a little after their cells are sent, so what the queue had is not known. If all was consumed,
  // nothing is sent again.
  return (await overQueue(() => queues.depth(deployed.queueUrl))) > 0
    ? undefined
    : 'its queue is empty, and what is not known to be consumed may have been purged';
}

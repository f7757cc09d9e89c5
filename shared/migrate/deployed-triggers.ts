import { forgetFollower } from '../follow/rewind-follower.ts';
import { dropTrigger, readTriggerItems, removeTrigger, writeTrigger } from '../topology/trigger-catalogue.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { DeployedTrigger } from '../topology/topology.ts';
import { triggerFollower, forgetTrigger } from '../triggers/state/trigger-items.ts';
import { triggerStatus } from '../triggers/state/trigger-status.ts';
import { isSameQueue } from '../triggers/state/queues.ts';
import type { DesiredDatastore } from './check-desired-state.ts';

interface TriggerTables {
  readonly topologyTable: DynamoTable;
  /** @default the state of removed triggers stays */
  readonly stateTable?: DynamoTable | undefined;
}

/** Workers learn of a trigger's removal within a minute, and end; this is ten times as long. */
const GONE_AFTER_MS = 10 * 60_000;

/**
 * Lists the desired triggers as they are deployed now, and removes the others. With `isPart`, keeps those of datastores
 * that are not among these.
 *
 * Requests a resend of a replaced queue's messages to its successor.
 *
 * Forgets offsets, parked cells and state of a removed trigger before it is listed again, so that it begins at its
 * `start`. Otherwise the first migration after ten minutes forgets them, when no worker can write them any more.
 */
export async function deployTriggers(
  { topologyTable, stateTable }: TriggerTables,
  datastores: readonly Pick<DesiredDatastore, 'name' | 'triggers'>[],
  { now = new Date(), isPart = false }: { readonly now?: Date; readonly isPart?: boolean | undefined } = {},
): Promise<void> {
  const listed = await readTriggerItems(topologyTable);
  const forget = async (datastore: string, name: string): Promise<void> => {
    if (!stateTable) return;
    await forgetFollower(stateTable, { name: triggerFollower(name), datastore });
    await forgetTrigger(stateTable, { datastore, trigger: name });
  };

  // Before the new queue is listed: nothing is consumed from it until it has the old one's messages.
  const leaveQueue = async (datastore: string, { definition, queueUrl }: DeployedTrigger): Promise<void> => {
    if (stateTable)
      await triggerStatus(stateTable, { datastore, trigger: definition.name }).wantResend({
        why: 'its queue was replaced',
        seen: {},
        queueUrl,
      });
  };

  for (const { name: datastore, triggers } of datastores) {
    for (const trigger of triggers) {
      const { name } = trigger.definition;
      const before = listed.find((item) => item.datastore === datastore && item.trigger.definition.name === name);
      if (before?.removed_at !== undefined) await forget(datastore, name);
      else if (before && !isSameQueue(before.trigger.queueUrl, trigger.queueUrl)) await leaveQueue(datastore, trigger);
      await writeTrigger(topologyTable, datastore, trigger);
    }
  }

  for (const { datastore, trigger, removed_at } of listed) {
    const { name } = trigger.definition;
    const desired = datastores.find((one) => one.name === datastore);
    if (desired ? desired.triggers.some(({ definition }) => definition.name === name) : isPart) continue;
    if (removed_at === undefined) {
      await removeTrigger(topologyTable, datastore, name, now);
    } else if (now.getTime() - Date.parse(removed_at) >= GONE_AFTER_MS && stateTable) {
      await forget(datastore, name);
      await dropTrigger(topologyTable, datastore, name);
    }
  }
}

import { forgetFollower } from '../follow/rewind-follower.ts';
import { dropTrigger, readTriggerItems, removeTrigger, writeTrigger } from '../topology/trigger-catalogue.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { DeployedTrigger } from '../topology/topology.ts';
import { triggerFollower, forgetTrigger } from '../triggers/state/trigger-items.ts';
import { triggerStatus } from '../triggers/state/trigger-status.ts';
import { isSameQueue } from '../triggers/state/queues.ts';
import type { WishedDatastore } from './check-wish.ts';

interface TriggerTables {
  readonly topologyTable: DynamoTable;
  /** @default what is kept there of removed triggers stays */
  readonly stateTable?: DynamoTable | undefined;
}

/** Whoever works for a trigger knows within a minute that it was removed, and ends; this is ten times as long. */
const GONE_AFTER_MS = 10 * 60_000;

/**
 * Lists the triggers that are wished as they are deployed now, and removes the others: also those of datastores that
 * are not wished at all, if these are all (not `isPart`).
 *
 * What a queue had that is replaced by another one is sent again to that.
 *
 * Offsets, parked cells and state of a removed trigger are forgotten when it is added again, before it is listed, so
 * that it begins at its `start`; else by the first migration that comes ten minutes later, when nobody works for it any
 * more who would write them anew.
 */
export async function deployTriggers(
  { topologyTable, stateTable }: TriggerTables,
  datastores: readonly Pick<WishedDatastore, 'name' | 'triggers'>[],
  { now = new Date(), isPart = false }: { readonly now?: Date; readonly isPart?: boolean | undefined } = {},
): Promise<void> {
  const listed = await readTriggerItems(topologyTable);
  const forget = async (datastore: string, name: string): Promise<void> => {
    if (!stateTable) return;
    await forgetFollower(stateTable, { name: triggerFollower(name), datastore });
    await forgetTrigger(stateTable, { datastore, trigger: name });
  };

  // Before anybody knows of the new one: nothing is consumed from it until what the old one had is on it.
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
    const wish = datastores.find((one) => one.name === datastore);
    if (wish ? wish.triggers.some(({ definition }) => definition.name === name) : isPart) continue;
    if (removed_at === undefined) {
      await removeTrigger(topologyTable, datastore, name, now);
    } else if (now.getTime() - Date.parse(removed_at) >= GONE_AFTER_MS && stateTable) {
      await forget(datastore, name);
      await dropTrigger(topologyTable, datastore, name);
    }
  }
}

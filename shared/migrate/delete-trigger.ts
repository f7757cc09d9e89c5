import { QueueDoesNotExist } from '@aws-sdk/client-sqs';
import type { DeletedPart, DeleteOptions, TriggerContents } from '../api/definitions.ts';
import { SchemalessError } from '../errors.ts';
import { forgetFollower } from '../follow/rewind-follower.ts';
import { forgetApplied, readAppliedDatastore } from '../topology/applied-definitions.ts';
import { readTriggerItems, removeTrigger } from '../topology/trigger-catalogue.ts';
import { triggerStore } from '../triggers/state/dynamo-trigger-store.ts';
import { triggerFollower } from '../triggers/state/follower-name.ts';
import { forgetTrigger } from '../triggers/state/trigger-items.ts';
import type { FoundQueues } from './applied-queues.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { checkConfirmed, stillDefined } from './deletion-refusals.ts';

/**
 * Deletes a trigger for good, also one that a deployment left behind, or that was never made whole. In this order, so
 * that a repetition finishes what was cut off: from the first step on nobody would make it again, and who sends for it
 * ends within seconds of the second. Its mark as removed stays until nobody can be left who would write of it; a later
 * migration takes that, too. Throws SchemalessError `unknown_trigger`, `still_defined`, `would_lose`.
 */
export async function deleteTrigger(
  parts: DefinitionParts,
  datastore: string,
  name: string,
  options: DeleteOptions,
): Promise<DeletedPart> {
  checkConfirmed(name, options);
  const defined = parts.deployed.datastores.find((one) => one.name === datastore);
  if (defined?.triggers.some((trigger) => trigger.name === name))
    throw stillDefined('trigger', name, `${datastore}/triggers/${name}.yaml`);
  const found = await findTrigger(parts, datastore, name);
  if (!found) throw unknown(datastore, name);
  // Of one that was removed before, what it still has is nobody's.
  const lost = found === 'removed' ? null : await triggerContents(parts, datastore, { name, ...found });
  if (lost && !options.force && lost.messages + lost.parked > 0) throw wouldLose(name, lost);
  if (options.dry_run) return { datastore, name, dry_run: true, lost };
  await forgetApplied(parts.topologyTable, { kind: 'trigger', datastore, name });
  await removeTrigger(parts.topologyTable, datastore, name);
  await parts.queues.remove(datastore, name);
  await forgetFollower(parts.stateTable, { name: triggerFollower(name), datastore });
  await forgetTrigger(parts.stateTable, { datastore, trigger: name });
  return { datastore, name, dry_run: false, lost };
}

/** Finds a trigger's queues in the catalogue, in what was applied, or in SQS alone after a cut-off `apply`. */
async function findTrigger(
  { topologyTable, queues }: DefinitionParts,
  datastore: string,
  name: string,
): Promise<FoundQueues | 'removed' | undefined> {
  const item = (await readTriggerItems(topologyTable)).find(
    (one) => one.datastore === datastore && one.trigger.definition.name === name,
  );
  if (item && item.removed_at === undefined) return item.trigger;
  const applied = await readAppliedDatastore(topologyTable, datastore);
  return (
    applied?.triggers.find(({ definition }) => definition.name === name) ??
    (await queues.find(datastore, name)) ??
    (item && 'removed')
  );
}

async function triggerContents(
  { stateTable, depths }: Pick<DefinitionParts, 'stateTable' | 'depths'>,
  datastore: string,
  { name, queueUrl, parkedQueueUrl }: FoundQueues & { readonly name: string },
): Promise<TriggerContents> {
  const store = triggerStore(stateTable, { datastore, trigger: name });
  const [waiting, dead, troubled, malformed] = await Promise.all([
    depths.depth(queueUrl).catch(noneIfGone),
    depths.depth(parkedQueueUrl).catch(noneIfGone),
    store.troubled(),
    store.malformed(),
  ]);
  const cells = (await store.shards(troubled)).flatMap((shard) => shard.cells);
  const parked = cells.filter(({ parked_at }) => parked_at !== undefined).length + malformed.length;
  return { messages: waiting + dead, parked };
}

function wouldLose(name: string, lost: TriggerContents): SchemalessError {
  const has = [lost.messages > 0 && `${lost.messages} messages`, lost.parked > 0 && `${lost.parked} parked`];
  const [wanted, got] = ['nothing that is lost with it, or force=true', has.filter(Boolean).join(', ')];
  return new SchemalessError('would_lose', `trigger ${name}: wanted ${wanted}, got ${got}`, {
    field: 'trigger',
    wanted,
    got,
    more: { lost },
  });
}

/** Somebody deleted the queue by hand. */
function noneIfGone(error: unknown): number {
  if (error instanceof QueueDoesNotExist) return 0;
  throw error;
}

function unknown(datastore: string, name: string): SchemalessError {
  const [wanted, got] = ['the name of a trigger', JSON.stringify(name.slice(0, 60))];
  return new SchemalessError('unknown_trigger', `no trigger ${got} of ${datastore}`, { field: 'trigger', wanted, got });
}

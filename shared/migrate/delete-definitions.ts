import type { DeleteOptions, DeletedPart, TriggerContents } from '../api/definitions.ts';
import { invalidField, SchemalessError } from '../errors.ts';
import { forgetApplied, readAppliedDatastore } from '../topology/defined.ts';
import { changeIndexVersions } from '../topology/index-catalogue.ts';
import { readIndexNow } from '../topology/index-now.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { desiredVersions } from './index-versions.ts';
import { QueueDoesNotExist } from '@aws-sdk/client-sqs';
import { forgetFollower } from '../follow/rewind-follower.ts';
import { readTriggerItems, removeTrigger } from '../topology/trigger-catalogue.ts';
import { triggerStore } from '../triggers/state/dynamo-trigger-store.ts';
import { triggerFollower, forgetTrigger } from '../triggers/state/trigger-items.ts';
import type { FoundQueues } from './applied-queues.ts';

/** Throws `invalid_field` unless `confirm` repeats the name. */
function checkConfirmed(name: string, { confirm }: DeleteOptions): void {
  if (confirm !== name) throw invalidField('confirm', `the name of what is deleted, ${JSON.stringify(name)}`, confirm);
}

function stillDefined(kind: 'index' | 'trigger', name: string, file: string): SchemalessError {
  const [wanted, got] = ['one that the deployment does not define any more', `one that ${file} defines`];
  return new SchemalessError('still_defined', `${kind} ${name}: wanted ${wanted}, got ${got}: remove that and deploy`, {
    field: kind,
    wanted,
    got,
  });
}

/**
 * Deletes an index for good. Writers and queries stop using it once they know, and the repair drops its tables and
 * state some minutes later. No data is lost, since cells hold all of it. Throws SchemalessError `unknown_index`,
 * `still_defined`.
 */
export async function deleteIndex(
  { topologyTable, deployed }: Pick<DefinitionParts, 'topologyTable' | 'deployed'>,
  datastore: string,
  name: string,
  options: DeleteOptions,
): Promise<DeletedPart> {
  checkConfirmed(name, options);
  const defined = deployed.datastores.find((one) => one.name === datastore);
  if (defined?.indexes.some((index) => index.name === name))
    throw stillDefined('index', name, `${datastore}/indexes/${name}.yaml`);
  const { versions } = await readIndexNow(topologyTable, { datastore, name });
  const applied = await readAppliedDatastore(topologyTable, datastore);
  // An index that was applied but never created is in no catalogue.
  if (versions.length === 0 && !applied?.indexes.some((index) => index.name === name))
    throw unknown('index', datastore, name);
  if (options.dry_run) return { datastore, name, dry_run: true, lost: null };
  await forgetApplied(topologyTable, { kind: 'index', datastore, name });
  await changeIndexVersions(topologyTable, { datastore, name }, (now) => desiredVersions(now, undefined, 'live'));
  return { datastore, name, dry_run: false, lost: null };
}

/**
 * Deletes a trigger for good, including one that a deployment left behind or an `apply` left incomplete. The order lets
 * a retry finish: after the first step nothing recreates it, and its tailers end within seconds of the second. A later
 * migration deletes its mark as removed, once no worker can write its state any more. Throws SchemalessError
 * `unknown_trigger`, `still_defined`, `would_discard_data`.
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
  if (!found) throw unknown('trigger', datastore, name);
  // The contents of a trigger that was removed before do not count.
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

/** Finds a trigger's queues in the catalogue, the applied definitions, or only SQS after an interrupted `apply`. */
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
  return new SchemalessError('would_discard_data', `trigger ${name}: wanted ${wanted}, got ${got}`, {
    field: 'trigger',
    wanted,
    got,
    more: { lost },
  });
}

/** Returns 0 for a queue that was deleted by hand. */
function noneIfGone(error: unknown): number {
  if (error instanceof QueueDoesNotExist) return 0;
  throw error;
}

function unknown(kind: 'index' | 'trigger', datastore: string, name: string): SchemalessError {
  const [wanted, got] = [`the name of ${kind === 'index' ? 'an' : 'a'} ${kind}`, JSON.stringify(name.slice(0, 60))];
  return new SchemalessError(`unknown_${kind}`, `no ${kind} ${got} of ${datastore}`, { field: kind, wanted, got });
}

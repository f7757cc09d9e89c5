import { deleteState, putState, setState, type StateItem } from '../dynamo/state-table.ts';
import { allItems, type DynamoTable } from '../dynamo/table.ts';
import type { DeployedTrigger } from './topology.ts';

/**
 * The triggers, as items of the topology table, read and cached with it.
 *
 * | pk | holds |
 * |---|---|
 * | `trigger#trips#bill_rider` | `trigger`: its definition and its queues, JSON; `removed_at`: when it was removed |
 *
 * The item of a removed trigger stays until no worker uses the trigger any more, since only then can its state
 * elsewhere be forgotten.
 */
interface TriggerItem {
  readonly datastore: string;
  readonly trigger: DeployedTrigger;
  /** RFC 3339, UTC. */
  readonly removed_at?: string;
}

const KEY = /^trigger#([^#]+)#[^#]+$/u;

const keyOf = (datastore: string, name: string): string => `trigger#${datastore}#${name}`;

/** Parses an item of the topology table; returns undefined if it is no trigger. */
export function toTriggerItem(item: StateItem): TriggerItem | undefined {
  const [, datastore] = KEY.exec(item['pk']?.S ?? '') ?? [];
  const [text, removed] = [item['trigger']?.S, item['removed_at']?.S];
  if (datastore === undefined || text === undefined) return undefined;
  return {
    datastore,
    trigger: JSON.parse(text) as DeployedTrigger,
    ...(removed !== undefined && { removed_at: removed }),
  };
}

/** Reads every trigger of every datastore, including removed ones, past every cache. */
export async function readTriggerItems(table: DynamoTable): Promise<readonly TriggerItem[]> {
  return (await allItems(table)).flatMap((item) => toTriggerItem(item) ?? []);
}

/** Writes a trigger as it is deployed now. */
export async function writeTrigger(table: DynamoTable, datastore: string, trigger: DeployedTrigger): Promise<void> {
  await putState(table, keyOf(datastore, trigger.definition.name), { trigger: { S: JSON.stringify(trigger) } });
}

/** Marks a trigger as removed, if it exists: no worker begins to work for it from then on. */
export async function removeTrigger(
  table: DynamoTable,
  datastore: string,
  name: string,
  now = new Date(),
): Promise<void> {
  const removed_at = { S: now.toISOString() };
  await setState(table, keyOf(datastore, name), { removed_at }, { condition: 'attribute_exists(pk)' });
}

/** Deletes the item of a removed trigger, after all else of it was forgotten. */
export async function dropTrigger(table: DynamoTable, datastore: string, name: string): Promise<void> {
  await deleteState(table, keyOf(datastore, name));
}

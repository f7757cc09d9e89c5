import { SchemalessError } from '../../errors.ts';
import type { StoreContext } from '../../access/context.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { requireDatastore } from '../../access/groups.ts';
import type { DatastoreTopology, DeployedTrigger } from '../../topology/topology.ts';
import { triggerStore, type TriggerStore } from '../state/dynamo-trigger-store.ts';
import { triggerFollower } from '../state/trigger-items.ts';
import type { FollowerName } from '../../follow/follower-item.ts';
import type { Queues } from '../state/queues.ts';

export interface TriggerManagementOptions {
  readonly context: StoreContext;
  readonly stateTable: DynamoTable;
  readonly queues: Omit<Queues, 'send'>;
  /** The variables that a consumer in another process needs from this deployment. @default none */
  readonly consumerEnvironment?: Readonly<Record<string, string>>;
  /** How long messages may wait until their queue cannot be trusted. @default see `safeHaltMs` */
  readonly safeHaltMs?: number;
}

export interface ManagedTrigger extends TriggerManagementOptions {
  readonly definition: DeployedTrigger['definition'];
  readonly deployed: DeployedTrigger;
  readonly topology: DatastoreTopology;
  readonly follower: FollowerName;
  readonly store: TriggerStore;
}

export async function managedTriggers(
  options: TriggerManagementOptions,
  datastore: string,
): Promise<readonly ManagedTrigger[]> {
  const topology = await requireDatastore(options.context.topology, datastore);
  return (await options.context.topology.triggers(datastore)).map((deployed) => ({
    ...options,
    deployed,
    definition: deployed.definition,
    topology,
    follower: { name: triggerFollower(deployed.definition.name), datastore },
    store: triggerStore(options.stateTable, { datastore, trigger: deployed.definition.name }),
  }));
}

/** @throws SchemalessError `unknown_trigger` */
export async function managedTrigger(
  options: TriggerManagementOptions,
  datastore: string,
  name: string,
): Promise<ManagedTrigger> {
  const isIt = ({ definition }: ManagedTrigger): boolean => definition.name === name;
  const found = (await managedTriggers(options, datastore)).find(isIt);
  if (found) return found;
  // It may be new.
  await options.context.topology.renew();
  const all = await managedTriggers(options, datastore);
  const made = all.find(isIt);
  if (!made) throw unknownTrigger(all, name);
  return made;
}

function unknownTrigger(known: readonly ManagedTrigger[], name: string): SchemalessError {
  const [wanted, got] = ['the name of a trigger', JSON.stringify(name.slice(0, 60))];
  const names = known.map(({ definition }) => definition.name).join(', ') || '(none defined)';
  return new SchemalessError('unknown_trigger', `trigger: wanted one of ${names}, got ${got}`, {
    field: 'trigger',
    wanted,
    got,
  });
}

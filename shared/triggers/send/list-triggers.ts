import type { DeployedTrigger, TopologySource } from '../../topology/topology.ts';

export interface ListedTrigger {
  readonly datastore: string;
  readonly deployed: DeployedTrigger;
}

/**
 * The triggers of all datastores, as deployed now.
 *
 * @throws SchemalessError `unavailable` when the topology cannot be read and nothing is known
 */
export async function listTriggers(topology: TopologySource): Promise<ListedTrigger[]> {
  topology.refresh();
  const listed: ListedTrigger[] = [];
  for (const datastore of await topology.datastores()) {
    for (const deployed of await topology.triggers(datastore)) listed.push({ datastore, deployed });
  }
  return listed;
}

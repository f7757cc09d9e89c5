import { SchemalessError } from '../errors.ts';
import type { SqlClient } from '../sql/client.ts';
import type { DatastoreTopology, GroupAddress, TopologySource } from './topology.ts';

/** The groups of a deployment, each with its client, opened when first needed. */
export interface Groups {
  /** Throws `unavailable` when the topology names a group that it does not describe. */
  client(group: string): Promise<SqlClient>;
  names(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export function openGroups(topology: TopologySource, connect: (address: GroupAddress) => SqlClient): Groups {
  const clients = new Map<string, { readonly address: string; readonly client: SqlClient }>();

  return {
    async client(group) {
      const address = (await topology.groups()).find(({ name }) => name === group);
      if (!address) {
        topology.refresh();
        throw new SchemalessError('unavailable', `group ${group} is not described by the topology`);
      }
      const described = JSON.stringify(address);
      const known = clients.get(group);
      if (known?.address === described) return known.client;
      const client = connect(address);
      clients.set(group, { address: described, client });
      // A group that was given other endpoints: what still runs on the old ones may end.
      void known?.client.close();
      return client;
    },
    names: async () => (await topology.groups()).map(({ name }) => name),
    async close() {
      await Promise.all([...clients.values()].map(({ client }) => client.close()));
      clients.clear();
    },
  };
}

/** A datastore's topology, or `unknown_datastore`. */
export async function requireDatastore(topology: TopologySource, name: string): Promise<DatastoreTopology> {
  const found = await topology.datastore(name);
  if (found) return found;
  throw new SchemalessError('unknown_datastore', `datastore: wanted one of ${(await topology.datastores()).join(', ') || '(none defined)'}, got ${JSON.stringify(name.slice(0, 60))}`, {
    field: 'datastore',
    wanted: 'the name of a datastore',
    got: JSON.stringify(name.slice(0, 60)),
  });
}

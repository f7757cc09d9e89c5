import { isDeepStrictEqual } from 'node:util';
import { SchemalessError } from '../errors.ts';
import type { Role } from '../cell.ts';
import type { SqlClient, Target } from '../sql/client.ts';
import {
  guardWith,
  type Guard,
  type GuardedClient,
  type CircuitName,
  type SuspectedBy,
} from '../sql/guarded-client.ts';
import { batchingClient } from '../sql/batching-client.ts';
import type { OpenCircuits } from './open-circuits.ts';
import type { DatastoreTopology, GroupAddress, ShardHome, TopologySource } from '../topology/topology.ts';

export interface Groups {
  /** Throws `unavailable` if the topology does not describe the group. */
  client(group: string): Promise<SqlClient>;
  /** This instance's breaker; `closed` if the role was never asked. */
  circuit(group: string, role: Role): CircuitName;
  names(): Promise<readonly string[]>;
  /** Reads the names past every cache. Throws `unavailable`: no table, or clients of older groups. */
  namesNow(): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface GroupsOptions {
  readonly guard?: Guard | undefined;
  readonly circuits?: OpenCircuits | undefined;
  readonly onOpen?: (group: string, role: Role, suspectedBy: SuspectedBy) => void;
}

export function openGroups(
  topology: TopologySource,
  connect: (address: GroupAddress) => SqlClient,
  { guard = guardWith(), circuits, onOpen = () => undefined }: GroupsOptions = {},
): Groups {
  const clients = new Map<
    string,
    {
      /** The list that it was last found in. */ among: readonly GroupAddress[];
      readonly address: string;
      readonly client: GuardedClient;
    }
  >();

  function open(address: GroupAddress): GuardedClient {
    return guard(batchingClient(connect(address)), address.name, (role, suspectedBy) => {
      onOpen(address.name, role, suspectedBy);
      if (suspectedBy === 'here') circuits?.tell(address.name, role);
    });
  }

  const check = (group: string, role: Role): void => clients.get(group)?.client.suspect(role);

  return {
    async client(group) {
      circuits?.poll(check, () => topology.refresh());
      const among = await topology.groups();
      const known = clients.get(group);
      // The topology gives the same list until it is read again.
      if (known?.among === among) return known.client;
      const address = among.find(({ name }) => name === group);
      if (!address) {
        topology.refresh();
        throw new SchemalessError('unavailable', `group ${group} is not described by the topology`);
      }
      const described = JSON.stringify(address);
      if (known?.address === described) {
        known.among = among;
        return known.client;
      }
      const client = open(address);
      clients.set(group, { among, address: described, client });
      // The group has other endpoints: what runs on the old ones may end.
      void known?.client.close();
      return client;
    },
    circuit: (group, role) => clients.get(group)?.client.circuit(role) ?? 'closed',
    names: async () => (await topology.groups()).map(({ name }) => name),
    async namesNow() {
      const now = await topology.groupsNow();
      if (!isDeepStrictEqual(now, await topology.groups())) {
        topology.refresh();
        throw new SchemalessError('unavailable', 'the groups are being changed: not all are known as they are now');
      }
      return now.map(({ name }) => name);
    },
    async close() {
      await Promise.all([...clients.values()].map(({ client }) => client.close()));
      clients.clear();
    },
  };
}

/** Returns a datastore that requests find. Throws `unknown_datastore`, after a poll whether it was made since. */
export async function requireServed(topology: TopologySource, name: string): Promise<DatastoreTopology> {
  const isServed = async (): Promise<boolean> => (await topology.served()).includes(name);
  if (!(await isServed())) {
    await topology.renew();
    if (!(await isServed())) throw await unknownDatastore(topology, name);
  }
  return requireDatastore(topology, name);
}

/** Returns a datastore, also a retired one, for background work. Throws as `requireServed`. */
export async function requireDatastore(topology: TopologySource, name: string): Promise<DatastoreTopology> {
  const known = await topology.datastore(name);
  if (known) return known;
  await topology.renew();
  const made = await topology.datastore(name);
  if (!made) throw await unknownDatastore(topology, name);
  return made;
}

async function unknownDatastore(topology: TopologySource, name: string): Promise<SchemalessError> {
  const wanted = `one of ${(await topology.served()).join(', ') || '(none defined)'}`;
  const got = JSON.stringify(name.slice(0, 60));
  return new SchemalessError('unknown_datastore', `datastore: wanted ${wanted}, got ${got}`, {
    field: 'datastore',
    wanted,
    got,
  });
}

export function homeOf(datastore: DatastoreTopology, shard: number): ShardHome {
  const home = datastore.homes[shard];
  if (!home)
    throw new SchemalessError(
      'unavailable',
      `the topology of ${datastore.datastore} does not say where shard ${shard} is`,
    );
  return home;
}

/** Whether all nodes of a group have the same cells: a promotion loses none. */
export async function sharesStorage(topology: TopologySource, group: string): Promise<boolean> {
  return (await topology.groups()).find(({ name }) => name === group)?.sharedStorage === true;
}

/** The nodes that may become a group's writer; where storage is shared, one is all. */
export async function nodesOf(topology: TopologySource, group: string, client: SqlClient): Promise<readonly Target[]> {
  if (!client.abilities.survivesDiskLoss || client.nodes < 2 || (await sharesStorage(topology, group)))
    return ['writer'];
  return Array.from({ length: client.nodes }, (_, node) => ({ node }));
}

export function byGroup<T extends { readonly shard: number }>(
  datastore: DatastoreTopology,
  items: readonly T[],
): Map<string, T[]> {
  return Map.groupBy(items, ({ shard }) => homeOf(datastore, shard).group);
}

export function shardsByGroup(datastore: DatastoreTopology): Map<string, number[]> {
  return Map.groupBy(datastore.homes.keys(), (shard) => homeOf(datastore, shard).group);
}

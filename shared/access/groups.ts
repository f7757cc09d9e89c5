import { isDeepStrictEqual } from 'node:util';
import { SchemalessError } from '../errors.ts';
import type { Role } from '../cell.ts';
import type { SqlClient } from '../sql/client.ts';
import {
  guardWith,
  type Guard,
  type GuardedClient,
  type CircuitName,
  type SuspectedBy,
} from '../sql/guarded-client.ts';
import { joiningClient } from '../sql/joining-client.ts';
import type { OpenCircuits } from './open-circuits.ts';
import type { DatastoreTopology, GroupAddress, ShardHome, TopologySource } from '../topology/topology.ts';

/** The groups of a deployment, each with its client, opened when first needed. */
export interface Groups {
  /** Throws `unavailable` when the topology names a group that it does not describe. */
  client(group: string): Promise<SqlClient>;
  /** What this instance's breaker says of a role, `closed` where it was never asked. */
  circuit(group: string, role: Role): CircuitName;
  names(): Promise<readonly string[]>;
  /**
   * The same at this moment, past every cache. Throws `unavailable` when the table cannot be read, or clients are of
   * groups as they were.
   */
  namesNow(): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface GroupsOptions {
  /** What every client is put behind. @default circuit breakers with BREAKER_SETTINGS */
  readonly guard?: Guard;
  /** How instances tell each other of circuits that opened. */
  readonly circuits?: OpenCircuits;
  /** A circuit opened, since this instance, or another, suspected that the role is down. */
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
    return guard(joiningClient(connect(address)), address.name, (role, suspectedBy) => {
      onOpen(address.name, role, suspectedBy);
      // Who suspected it first has told all.
      if (suspectedBy === 'here') circuits?.tell(address.name, role);
    });
  }

  const heed = (group: string, role: Role): void => clients.get(group)?.client.doubt(role);

  return {
    async client(group) {
      circuits?.look(heed, () => topology.refresh());
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
      // A group that was given other endpoints: what still runs on the old ones may end.
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

/** Returns a datastore that requests find. Throws `unknown_datastore` only after a look whether it was made since. */
export async function requireServed(topology: TopologySource, name: string): Promise<DatastoreTopology> {
  const isServed = async (): Promise<boolean> => (await topology.served()).includes(name);
  if (!(await isServed())) {
    await topology.renew();
    if (!(await isServed())) throw await unknownDatastore(topology, name);
  }
  return requireDatastore(topology, name);
}

/** Returns a datastore, also a retired one: for what goes on when requests do not find it. Throws as `requireServed`. */
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

/** Every node of a group has the same cells: none that is promoted lacks any. */
export async function sharesStorage(topology: TopologySource, group: string): Promise<boolean> {
  return (await topology.groups()).find(({ name }) => name === group)?.sharedStorage === true;
}

/** Sorts items by the group that holds their shard, keeping their order. */
export function byGroup<T extends { readonly shard: number }>(
  datastore: DatastoreTopology,
  items: readonly T[],
): Map<string, T[]> {
  return Map.groupBy(items, ({ shard }) => homeOf(datastore, shard).group);
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '../cell.ts';
import type { CircuitName } from '../sql/guarded-client.ts';
import { HEALTH_CHECK, type SqlClient, SqlError } from '../sql/client.ts';
import { requireServed } from '../access/groups.ts';
import { bufferOperations } from './buffer-operations.ts';
import { openContext, type DeploymentOptions, type StoreContext } from '../access/context.ts';
import type { Datastore } from '../contract/datastore.ts';
import type { BufferOperations } from '../api/buffer.ts';
import type { GroupHealth, NodeHealth } from '../api/service.ts';
import type { IndexOperations } from '../api/indexes.ts';
import { indexPolls } from '../index/index-polls.ts';
import type { IndexesAsked } from '../index/query.ts';
import { entryReads, runQuery } from '../index/run-query.ts';
import { runCount } from '../index/run-count.ts';
import { indexStatus, indexStatuses } from '../index/status.ts';
import { digestReads } from './digest-log.ts';
import { findOne, told, type LookUpKey, type LookUps } from './look-ups.ts';
import { cellReads } from './read-cells.ts';
import { logReads } from './read-log.ts';
import { cellWrites } from './write-cells.ts';
import { SchemalessError } from '../errors.ts';
import { isGone } from '../sql/gone.ts';
import type { TopologySource } from '../topology/topology.ts';

export type StoredDatastore = Datastore & BufferOperations & IndexOperations & LookUps;

/** Seals what is written to a datastore, and opens what is read; the same datastore gives the same one. */
export type Seal = (stored: StoredDatastore) => Promise<StoredDatastore>;

export interface Deployment {
  /** Throws `unknown_datastore`. */
  datastore(name: string): Promise<StoredDatastore>;
  datastores(): Promise<readonly string[]>;
  health(): Promise<readonly GroupHealth[]>;
  close(): Promise<void>;
}

/** @param seal wraps datastores that seal fields; absent: they are given as stored */
export function openDeployment(options: DeploymentOptions, seal?: Seal): Deployment {
  const context = openContext(options);
  const { topology, groups } = context;
  const open = new Map<string, StoredDatastore>();

  return {
    async datastore(name) {
      const { shards, sealed } = await requireServed(topology, name);
      let datastore = open.get(name);
      // An operator may have dropped it, and made another of its name.
      if (datastore?.shards !== shards) {
        const indexes = indexReads(context, name);
        datastore = {
          name,
          shards,
          ...cellWrites(context, name, shards),
          ...bufferOperations(context, name),
          ...indexes,
          ...whereShardsAre(topology, {
            ...cellReads(context, name, shards),
            ...logReads(context, name, shards),
            ...digestReads(context, name, shards),
            ...indexes,
          }),
        };
        open.set(name, datastore);
      }
      return seal && sealed ? seal(datastore) : datastore;
    },
    async datastores() {
      // Lists a datastore made a moment ago; without the table, the list as it is known.
      await topology.renew().catch(() => undefined);
      return topology.served();
    },
    async health() {
      const names = await groups.names();
      return Promise.all(
        names.map(async (group): Promise<GroupHealth> => {
          const client = await groups.client(group);
          const [writer, reader] = await Promise.all(
            (['writer', 'reader'] as const).map((role) => probe(client, role, () => groups.circuit(group, role))),
          );
          if (!writer || !reader) throw new Error('a role without an answer');
          return { group, writer, reader };
        }),
      );
    },
    close: () => groups.close(),
  };
}

export function indexReads(
  context: StoreContext,
  datastore: string,
): Pick<Datastore, 'query' | 'count'> & IndexOperations {
  const asked: IndexesAsked = { topology: context.topology, datastore, polls: indexPolls(context.topology, datastore) };
  const reads = entryReads(datastore);
  return {
    query: (query) => runQuery(context, asked, reads, query),
    count: (query) => runCount(context, asked, query),
    listIndexes: async () => ({ indexes: await indexStatuses(asked) }),
    getIndex: (name) => indexStatus(asked, name),
  };
}

async function probe(client: SqlClient, role: Role, circuit: () => CircuitName): Promise<NodeHealth> {
  const start = performance.now();
  const served_by = client.abilities.readsFromReaders ? role : 'writer';
  const milliseconds = () => Math.round(performance.now() - start);
  try {
    await client.select(HEALTH_CHECK, role);
    return { state: 'up', served_by, milliseconds: milliseconds(), circuit: circuit() };
  } catch (error) {
    const message = error instanceof SqlError ? error.failure : 'unreachable';
    return { state: 'down', served_by, milliseconds: milliseconds(), circuit: circuit(), error: message };
  }
}

type Reads = Pick<
  Datastore,
  'get' | 'getLatest' | 'versions' | 'row' | 'batchGet' | 'log' | 'heads' | 'digest' | 'query' | 'count'
> &
  LookUps;

/** Reads again after polls of the topology; the second time at once. */
const TRIES = 3;
const PAUSE_MS = 30;
const REFRESH_MS = 20;

/** Repeats a read at a moved shard's new group: its old group has no table of that name any more. */
export function whereShardsAre(topology: TopologySource, reads: Reads): Reads {
  async function follow<T>(read: () => Promise<T>, isOfGone: (answer: T) => boolean = never): Promise<T> {
    for (let tried = 1; tried < TRIES; tried += 1) {
      try {
        const answer = await read();
        if (!isOfGone(answer)) return answer;
      } catch (error) {
        if (!isElsewhere(error)) throw error;
      }
      if (tried > 1) await sleep(PAUSE_MS);
      topology.refresh(REFRESH_MS);
    }
    return read();
  }

  return {
    async findEach(keys, options, tell) {
      const following: Promise<void>[] = [];
      await reads.findEach(keys, options, (position, found) => {
        if (!isErrorElsewhere(found)) return tell(position, found);
        // At once: other groups may take long.
        topology.refresh(REFRESH_MS);
        const again = follow(() => findOne(reads, keys[position] as LookUpKey, options));
        following.push(told(again, (one) => tell(position, one)));
      });
      await Promise.all(following);
    },
    get: (address, options) => follow(() => reads.get(address, options)),
    getLatest: (key, options) => follow(() => reads.getLatest(key, options)),
    versions: (key, options) => follow(() => reads.versions(key, options)),
    row: (key, options) => follow(() => reads.row(key, options)),
    batchGet: (keys, options) => follow(() => reads.batchGet(keys, options), anyElsewhere),
    log: (locations, options) => follow(() => reads.log(locations, options), anyElsewhere),
    heads: (options) => follow(() => reads.heads(options), anyElsewhere),
    digest: (range, options) => follow(() => reads.digest(range, options)),
    query: (query) =>
      follow(
        () => reads.query(query),
        ({ entries }) => query.columns !== undefined && entries.some(({ cells }) => isErrorElsewhere(cells)),
      ),
    count: (query) => follow(() => reads.count(query)),
  };
}

const never = (): boolean => false;

function isElsewhere(error: unknown): boolean {
  return error instanceof SchemalessError && isGone(error.cause);
}

function anyElsewhere(items: readonly unknown[]): boolean {
  return items.some(isErrorElsewhere);
}

function isErrorElsewhere(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'error' in item && isElsewhere(item.error);
}

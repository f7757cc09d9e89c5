import type { GroupEndpoints } from '../sql/endpoints.ts';
import type { RetentionRule, SealedFields, TriggerDefinition } from '../definitions/definitions.ts';
import type { MadeUser } from './database-users.ts';
import type { IndexCatalogue } from './index-catalogue.ts';
import type { IndexNow } from './index-now.ts';

/** The owner of each shard, and how to reach each group: data in DynamoDB. A location is never computed. */

/** The group of a shard. The epoch rises when the shard moves, or when a promoted reader lacks its last cells. */
export interface ShardHome {
  readonly group: string;
  readonly epoch: number;
  /** @default it is not being moved */
  readonly copy?: ShardCopy;
}

/** A shard's copy on another group, which may become the shard: see `moves/`. */
export interface ShardCopy {
  readonly group: string;
  /** Writers of the shard's entries write them to the copy as well. */
  readonly takesEntries: boolean;
  readonly move: string;
}

export interface DatastoreTopology {
  readonly datastore: string;
  /** Fixed at creation. */
  readonly shards: number;
  /** Indexed by shard. */
  readonly homes: readonly ShardHome[];
  /** Some of its shards do not exist yet. */
  readonly isBeingMade?: true;
  /** How long cells are kept. @default for good */
  readonly retention?: readonly RetentionRule[];
  /** The sealed fields of its bodies: the same array until the topology is read again. */
  readonly sealed?: readonly SealedFields[];
}

/** The addresses of a group, for every SQL adapter. */
export interface GroupAddress extends GroupEndpoints {
  /** ARN of the cluster, for the RDS Data API. */
  readonly clusterArn: string;
  /** ARN or name of the secret `{username, password}` of the cluster's owner. */
  readonly secret: string;
  /** The same for each user that the migration creates. @default none: users log in with tokens */
  readonly userSecrets?: Readonly<Record<MadeUser, string>>;
}

/** A trigger as deployed: its definition and its queues. */
export interface DeployedTrigger {
  readonly definition: TriggerDefinition;
  readonly queueUrl: string;
  /** Receives the messages that the queue gives up: see `infra/docs/triggers.md`. */
  readonly parkedQueueUrl: string;
}

/** Reads and refreshes the cached topology. */
export interface TopologySource {
  /** Returns a datastore, even a retired one; undefined if none has this name. */
  datastore(name: string): Promise<DatastoreTopology | undefined>;
  /** Returns the names of all datastores, sorted, including retired ones. */
  datastores(): Promise<readonly string[]>;
  /** Returns the sorted names of the datastores that requests find, which a deployment or an `apply` defines. */
  served(): Promise<readonly string[]>;
  groups(): Promise<readonly GroupAddress[]>;
  /** Reads the groups past every cache. Throws if the table cannot be read. */
  groupsNow(): Promise<readonly GroupAddress[]>;
  /** Returns the indexes of a datastore that have a version, by name; none if the datastore is unknown. */
  indexes(datastore: string): Promise<readonly IndexCatalogue[]>;
  /** Reads one index past every cache. Throws if the table cannot be read. */
  indexNow(datastore: string, name: string): Promise<IndexNow>;
  /** Returns the triggers of a datastore, by name; none if the datastore is unknown. */
  triggers(datastore: string): Promise<readonly DeployedTrigger[]>;
  /**
   * Drops the cache, so that the next call reads the table, such as after an append found a shard closed or gone.
   * `everyMs`: not if a call with a limit did so within this time, since each read scans the table. For causes that any
   * client can repeat at will.
   */
  refresh(everyMs?: number): void;
  /** Reads the table with a shared read that begins after this call. Throws `unavailable`. */
  renew(): Promise<void>;
}

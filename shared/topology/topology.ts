import type { GroupEndpoints } from '../sql/endpoints.ts';
import type { RetentionRule, SealedFields, TriggerDefinition } from '../definitions/definitions.ts';
import type { MadeUser } from './database-users.ts';
import type { IndexCatalogue } from './index-catalogue.ts';
import type { IndexNow } from './index-now.ts';

/** Which group holds which shard, and how each group is reached: data in DynamoDB. A location is never computed. */

/** Where a shard is. The epoch goes up when it moves, or when a promoted replica turns out to lack its last cells. */
export interface ShardHome {
  readonly group: string;
  readonly epoch: number;
  /** @default it is not being moved */
  readonly copy?: ShardCopy;
}

/** A shard's copy on another group, which may become the shard: see `moves/`. */
export interface ShardCopy {
  readonly group: string;
  /** Whoever writes entries of the shard writes them to the copy, too. */
  readonly takesEntries: boolean;
  readonly move: string;
}

export interface DatastoreTopology {
  readonly datastore: string;
  /** Fixed at creation. */
  readonly shards: number;
  /** Indexed by shard. */
  readonly homes: readonly ShardHome[];
  /** Not all of its shards have been made yet. */
  readonly isBeingMade?: true;
  /** How long cells are kept. @default for good */
  readonly retention?: readonly RetentionRule[];
  /** Which fields of its bodies are sealed: the same list as long as it is not read anew. */
  readonly sealed?: readonly SealedFields[];
}

/** How a group is reached, whatever the way. */
export interface GroupAddress extends GroupEndpoints {
  /** ARN of the cluster: what the RDS Data API knows it by. */
  readonly clusterArn: string;
  /** ARN or name of the secret `{username, password}` of the cluster's owner. */
  readonly secret: string;
  /** The same for each user that the migration makes. @default none: users log in with tokens */
  readonly userSecrets?: Readonly<Record<MadeUser, string>>;
}

/** A trigger as deployed: what its definition says, and where its queues are. */
export interface DeployedTrigger {
  readonly definition: TriggerDefinition;
  readonly queueUrl: string;
  /** Receives what the queue gives up: see `infra/docs/triggers.md`. */
  readonly parkedQueueUrl: string;
}

/** Reads, and refreshes, what is known of the topology. */
export interface TopologySource {
  /** Undefined when no datastore has this name; retired datastores included. */
  datastore(name: string): Promise<DatastoreTopology | undefined>;
  /** The names of all datastores, sorted; retired datastores included. */
  datastores(): Promise<readonly string[]>;
  /** The names of the datastores that requests find, sorted: those that a deployment or an `apply` defines. */
  served(): Promise<readonly string[]>;
  groups(): Promise<readonly GroupAddress[]>;
  /** The groups as they are at this moment, past every cache. Throws when the table cannot be read. */
  groupsNow(): Promise<readonly GroupAddress[]>;
  /** The indexes of a datastore that have a version, by name; none when the datastore has none, or is not known. */
  indexes(datastore: string): Promise<readonly IndexCatalogue[]>;
  /** One index as it is at this moment, past every cache. Throws when the table cannot be read. */
  indexNow(datastore: string, name: string): Promise<IndexNow>;
  /** The triggers of a datastore, by name; none when the datastore has none, or is not known. */
  triggers(datastore: string): Promise<readonly DeployedTrigger[]>;
  /** Forgets what is cached, so that the next call reads the table: after an append found a shard closed or gone. */
  refresh(): void;
  /** Reads the table by a read that begins after this call, shared. Throws `unavailable`. */
  renew(): Promise<void>;
}

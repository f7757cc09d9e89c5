import type { Definitions } from '../definitions/definitions.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { SqlClient } from '../sql/client.ts';
import type { MadeUser } from '../topology/database-users.ts';
import type { GroupAddress } from '../topology/topology.ts';
import type { Queues } from '../triggers/state/queues.ts';
import type { AppliedQueues } from './applied-queues.ts';
import type { UserLogin } from './create-users.ts';

/** What making and deleting definitions works with. */
export interface DefinitionParts {
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  /** As the owner of the databases. */
  readonly connect: (group: GroupAddress) => SqlClient;
  /** Of the users that functions are on a group's servers. */
  readonly logins?: (group: GroupAddress) => Promise<Readonly<Record<MadeUser, UserLogin>>>;
  /** Of each write, on other groups. */
  readonly bufferCopies: number;
  readonly queues: AppliedQueues;
  /** How much is on queues. */
  readonly depths: Pick<Queues, 'depth'>;
  /** What the deployment defines: that is its own to change. */
  readonly deployed: Definitions;
  /** The most shards that a datastore made here gets, whatever its definition says. */
  readonly mostShards: number;
  /** The environment has a root key: without one no field can be sealed. */
  readonly canSeal: boolean;
  /** False once there is no time for another statement. */
  readonly mayGoOn: () => boolean;
}

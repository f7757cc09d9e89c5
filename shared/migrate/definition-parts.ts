import type { DynamoTable } from '../dynamo/table.ts';
import type { Definitions } from '../definitions/definitions.ts';
import type { Queues } from '../triggers/state/queues.ts';
import type { AppliedQueues } from './applied-queues.ts';
import type { Migration } from './migrate.ts';

/** What making and deleting definitions works with. */
export interface DefinitionParts extends Omit<Migration, 'wish' | 'stateTable' | 'bufferCopies'> {
  readonly stateTable: DynamoTable;
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
}

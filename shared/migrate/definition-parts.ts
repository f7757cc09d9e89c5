import type { DynamoTable } from '../dynamo/table.ts';
import type { Definitions } from '../definitions/definitions.ts';
import type { Queues } from '../triggers/state/queues.ts';
import type { AppliedQueues } from './applied-queues.ts';
import type { Migration } from './migrate.ts';

/** The dependencies of creating and deleting definitions. */
export interface DefinitionParts extends Omit<Migration, 'desired' | 'stateTable' | 'bufferCopies'> {
  readonly stateTable: DynamoTable;
  /** The number of hints of each write. */
  readonly bufferCopies: number;
  readonly queues: AppliedQueues;
  /** Reads the number of messages on queues. */
  readonly depths: Pick<Queues, 'depth'>;
  /** The definitions of the deployment, which only it may change. */
  readonly deployed: Definitions;
  /** The most shards of a datastore created here, whatever its definition says. */
  readonly mostShards: number;
  /** Whether the environment has a root key, which sealing needs. */
  readonly canSeal: boolean;
}

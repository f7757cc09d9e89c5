import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import type { Service } from '../emulators/emulator.ts';
import type { Endpoints } from './endpoints.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import type { ShardGroups } from '../mysql/shard-groups.ts';
import type { StackQueue } from '../template/stack-queues.ts';
import type { Tailers } from './tailers.ts';
import type { UndefinedDatastore } from './undefined-datastores.ts';

/** A whole deployment on this machine. */
export interface LocalStack {
  /** Of the HTTP API, without a slash at the end. */
  readonly url: string;
  /** As they are now. */
  readonly endpoints: Endpoints;
  readonly groups: ShardGroups;
  readonly functions: FunctionHost;
  /** How many workers send cells to the triggers. */
  readonly tailers: Tailers;
  /** Every queue, and which function its messages call. */
  readonly queues: () => readonly StackQueue[];
  /** DynamoDB and SQS, which can be away for a while. */
  readonly services: { readonly dynamodb: Service; readonly sqs: Service };
  /** The datastores with the shard counts that they have here. */
  readonly datastores: readonly DatastoreDefinition[];
  /** Those that are in the data and not defined any more. */
  readonly undefinedDatastores: readonly UndefinedDatastore[];
  /** Where the functions' output goes. */
  readonly functionLog: string;
  /** Ends all instances of a function (`write-cells`) at once; the next call starts a new one. */
  killFunction(title: string): Promise<void>;
  /** Stops everything cleanly, the HTTP API first. Can be called again. */
  stop(): Promise<void>;
}

import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import type { Service } from '../emulators/emulator.ts';
import type { Endpoints } from './endpoints.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import type { RightsByKey } from '../iam/rights.ts';
import type { ShardGroups } from '../mysql/shard-groups.ts';
import type { StackQueue } from '../template/run-template.ts';
import type { Tailers } from '../template/tailers.ts';
import type { CreatedDatastore } from './created-datastores.ts';

interface ReadSources {
  readonly datastores: string;
  readonly read: ReadonlySet<string>;
}

export interface TakenOver {
  readonly definitions: readonly string[];
  readonly functions: readonly string[];
}

export interface AddedGroup {
  readonly name: string;
  readonly readers: number;
  readonly groups: number;
}

export interface LocalStack {
  readonly url: string;
  /** The current addresses. */
  readonly endpoints: Endpoints;
  readonly groups: ShardGroups;
  readonly functions: FunctionHost;
  readonly tailers: Tailers;
  readonly queues: () => readonly StackQueue[];
  /** SQS and DynamoDB; tests stop them for a while. */
  readonly services: { readonly dynamodb: Service; readonly sqs: Service };
  readonly sources: () => ReadSources;
  /**
   * Applies the current sources as a deployment would, without restarting a server. Rejects with an `Error` that says
   * what is wrong and where; then everything stays as it was. Calls run one at a time.
   */
  takeOver(): Promise<TakenOver>;
  /** Adds a group as a deployment would. No shard moves; after a failure the next call continues. */
  addGroup(): Promise<AddedGroup>;
  readonly datastores: readonly DatastoreDefinition[];
  readonly retiredDatastores: readonly CreatedDatastore[];
  readonly rights: RightsByKey;
  /** Replaces the rights until the sources are applied again. */
  setRights(rights: RightsByKey): Promise<void>;
  readonly functionLog: string;
  /** Ends all instances of a function; the next call starts a new one. */
  killFunction(title: string): Promise<void>;
  /** Stops everything cleanly. Can be called again. */
  stop(): Promise<void>;
}

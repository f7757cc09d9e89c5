import type { DatastoreDefinition } from '../../../shared/definitions/definitions.ts';
import type { Service } from '../emulators/emulator.ts';
import type { Endpoints } from './endpoints.ts';
import type { FunctionHost } from '../lambda/function-host.ts';
import type { RightsByKey } from '../iam/rights.ts';
import type { ShardGroups } from '../mysql/shard-groups.ts';
import type { StackQueue } from '../template/stack-queues.ts';
import type { Tailers } from '../template/tailers.ts';
import type { CreatedDatastore } from './created-datastores.ts';

export interface ReadSources {
  /** Folder of the datastores' YAML. */
  readonly datastores: string;
  /** Paths of the modules of the app and of the functions, those of packages included. */
  readonly read: ReadonlySet<string>;
}

/** What was otherwise than before. */
export interface TakenOver {
  /** For people: `index by_driver of trips added`. */
  readonly definitions: readonly string[];
  /** Titles of the functions that are new, or not as they were. */
  readonly functions: readonly string[];
}

export interface AddedGroup {
  readonly name: string;
  readonly readers: number;
  /** That there are now. */
  readonly groups: number;
}

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
  /** As they were when it took over last. */
  readonly sources: () => ReadSources;
  /**
   * Runs what the sources say now, as a deployment would: functions that changed answer the next call, new indexes,
   * triggers and datastores are made, and no server is started anew. Rejects with an `Error` that says what is wrong, and
   * where, when that cannot be: then all goes on as before. Calls are done one after the other.
   */
  takeOver(): Promise<TakenOver>;
  /**
   * Has one group more, as a deployment with a changed number would: its servers are started beside those that run, and
   * what the sources say with it is taken over, by functions that are made anew. No shard moves. Where its servers run and
   * the rest fails, as by a migration that is cut off, the next call, the next take-over, or the next start goes on with
   * it. In turn with take-overs.
   */
  addGroup(): Promise<AddedGroup>;
  /** The datastores with the shard counts that they have here. */
  readonly datastores: readonly DatastoreDefinition[];
  /** Those that are in the data and were not defined any more at the start. */
  readonly retiredDatastores: readonly CreatedDatastore[];
  /** What the policies of the template let the functions do. */
  readonly rights: RightsByKey;
  /** Has the services judge by other rights, as where one is missing, until the sources are taken over again. */
  setRights(rights: RightsByKey): Promise<void>;
  /** Where the functions' output goes. */
  readonly functionLog: string;
  /** Ends all instances of a function (`write-cells`) at once; the next call starts a new one. */
  killFunction(title: string): Promise<void>;
  /** Stops everything cleanly, the HTTP API first. Can be called again. */
  stop(): Promise<void>;
}

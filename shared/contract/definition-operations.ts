/**
 * Making datastores, indexes and triggers, and deleting indexes and triggers, while the store runs: the real thing, and
 * a client's over HTTP. Types only.
 *
 * Only where the environment says so. Everything may be repeated; what was cut off is finished by that.
 */
export interface DefinitionOperations {
  /**
   * Makes what the files define and is not there yet, and changes what can be changed. What they do not name stays.
   * Everything is judged before anything is done. `files`: what the folders of datastores hold, by path:
   * `shop/datastore.yaml`, `shop/indexes/buyer_index.yaml`. Throws SchemalessError `invalid_definition` with every
   * problem; `fixed_definition` with everything that cannot be changed and why: then nothing was changed.
   */
  apply(files: DefinitionFiles, options?: DryRun): Promise<AppliedOutcome>;

  /** Deletes an index for good; its tables are dropped within some minutes. Throws `unknown_index`, `still_defined`. */
  deleteIndex(datastore: string, index: string, options: DeleteOptions): Promise<DeletedPart>;
  /**
   * Deletes a trigger for good, with its queues, offsets and parked cells. Throws SchemalessError `unknown_trigger`;
   * `still_defined`; `would_lose` while cells wait on its queues or are parked, unless `force`.
   */
  deleteTrigger(datastore: string, trigger: string, options: DeleteOptions): Promise<DeletedPart>;
}

/** Texts of YAML or JSON, or what they say, by path. */
type DefinitionFiles = Readonly<Record<string, string | object>>;

interface DryRun {
  /** Says what would be done, and changes nothing. @default false */
  readonly dry_run?: boolean | undefined;
}

export interface DeleteOptions extends DryRun {
  /** The name of what is deleted, once more. */
  readonly confirm: string;
  /** Also where something is lost with it. @default false */
  readonly force?: boolean | undefined;
}

export type DefinitionKind = 'datastore' | 'index' | 'trigger';

export interface AppliedOutcome {
  /** False: there was not time enough for all; repeat it. */
  readonly done: boolean;
  readonly dry_run: boolean;
  /** Of everything that the files define. */
  readonly changes: readonly AppliedChange[];
  /** What can be done, and will be regretted. */
  readonly warnings: readonly DefinitionProblem[];
}

export interface AppliedChange {
  readonly kind: DefinitionKind;
  readonly datastore: string;
  readonly name: string;
  readonly change: 'create' | 'change' | 'none';
  readonly shards?: number;
}

interface DefinitionProblem {
  readonly file: string;
  /** From 1; 0 where the whole file is meant. */
  readonly line: number;
  readonly message: string;
}

/** Something that a definition wishes and that cannot be had while the store runs. */
export interface FixedProblem {
  readonly kind: DefinitionKind;
  readonly datastore: string;
  readonly name: string;
  readonly field: string;
  readonly wanted: string;
  readonly got: string;
  readonly reason: string;
}

/** What a trigger has, and is lost with it: about, as SQS counts. */
export interface TriggerContents {
  /** Messages on its queues, those that SQS gave up on included. */
  readonly messages: number;
  readonly parked: number;
}

export interface DeletedPart {
  readonly datastore: string;
  readonly name: string;
  readonly dry_run: boolean;
  readonly lost: TriggerContents | null;
}

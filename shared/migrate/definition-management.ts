import type {
  AppliedOutcome,
  DeletedDatastore,
  DeletedPart,
  DeleteOptions,
} from '../contract/definition-operations.ts';
import type { Definitions } from '../definitions/definitions.ts';
import { leases } from '../dynamo/lease.ts';
import { underLease } from '../dynamo/under-lease.ts';
import { SchemalessError } from '../errors.ts';
import { applyDefinitions } from './apply-definitions.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { deleteDatastore } from './delete-datastore.ts';
import { deleteIndex } from './delete-index.ts';
import { deleteTrigger } from './delete-trigger.ts';

export interface DefinitionManagementOptions extends Omit<DefinitionParts, 'mayGoOn'> {
  /** Unique to this instance. */
  readonly owner: string;
  /** For how long one call begins statements. @default 20,000: short of what a request may take */
  readonly workMs?: number;
}

/** Making and deleting, each under the lease of the migration: no deployment changes the same meanwhile. */
export interface DefinitionManagement {
  apply(wished: Definitions, dryRun: boolean): Promise<Omit<AppliedOutcome, 'warnings'>>;
  deleteDatastore(datastore: string, options: DeleteOptions): Promise<DeletedDatastore>;
  deleteIndex(datastore: string, index: string, options: DeleteOptions): Promise<DeletedPart>;
  deleteTrigger(datastore: string, trigger: string, options: DeleteOptions): Promise<DeletedPart>;
}

const WORK_MS = 20_000;
const LEASE_MS = 10_000;
const RENEW_MS = 2000;
const TAKE_PAUSE_MS = 200;

export function definitionManagement(options: DefinitionManagementOptions): DefinitionManagement {
  const { owner, workMs = WORK_MS, stateTable, ...parts } = options;
  const alone = async <T>(work: (parts: DefinitionParts) => Promise<T>): Promise<T> => {
    const ended = await underLease(
      {
        // Two calls within one instance are two holders.
        leases: leases(stateTable, `${owner}/${performance.now()}`, LEASE_MS),
        name: 'migrate',
        renewMs: RENEW_MS,
        takeEveryMs: TAKE_PAUSE_MS,
        isExclusive: true,
        signal: AbortSignal.timeout(workMs),
      },
      (held) => work({ ...parts, stateTable, mayGoOn: () => !held.aborted }),
    );
    if (ended) return ended.result;
    throw new SchemalessError('unavailable', 'Not done, repeat it: a migration or a deletion is under way');
  };
  return {
    apply: (wished, dryRun) => alone((all) => applyDefinitions(all, wished, dryRun)),
    deleteDatastore: (datastore, how) => alone((all) => deleteDatastore(all, datastore, how)),
    deleteIndex: (datastore, index, how) => alone((all) => deleteIndex(all, datastore, index, how)),
    deleteTrigger: (datastore, trigger, how) => alone((all) => deleteTrigger(all, datastore, trigger, how)),
  };
}

import type { AppliedOutcome, DeletedPart, DeleteOptions } from '../api/definitions.ts';
import type { Definitions } from '../definitions/definitions.ts';
import { leases } from '../dynamo/lease.ts';
import { underLease } from '../dynamo/under-lease.ts';
import { SchemalessError } from '../errors.ts';
import { readDeployed } from '../topology/defined.ts';
import { applyDefinitions } from './apply-definitions.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { deleteIndex, deleteTrigger } from './delete-definitions.ts';

interface DefinitionManagementOptions extends Omit<DefinitionParts, 'deployed' | 'mayGoOn'> {
  /** Unique to this instance. */
  readonly owner: string;
  /** For how long one call begins statements. @default 15,000: short of what a request may take */
  readonly workMs?: number;
}

/** Making and deleting, each under the lease of the migration: no deployment changes the same meanwhile. */
export interface DefinitionManagement {
  apply(wished: Definitions, dryRun: boolean): Promise<Omit<AppliedOutcome, 'warnings'>>;
  deleteIndex(datastore: string, index: string, options: DeleteOptions): Promise<DeletedPart>;
  deleteTrigger(datastore: string, trigger: string, options: DeleteOptions): Promise<DeletedPart>;
}

/** A statement that was begun last may take `STATEMENT_MS` more: both end before the API answers by itself, at 27 s. */
const WORK_MS = 15_000;
/** What a statement may take: creating or dropping a database takes long on a busy cluster. */
export const STATEMENT_MS = 10_000;
const LEASE_MS = 10_000;
const RENEW_MS = 2000;
const TAKE_PAUSE_MS = 200;

export function definitionManagement(options: DefinitionManagementOptions): DefinitionManagement {
  const { owner, workMs = WORK_MS, stateTable, ...parts } = options;
  const alone = async <T>(work: (parts: DefinitionParts) => Promise<T>): Promise<T> => {
    // By the clock, too: in a function that was frozen after its answer, timers come late.
    const deadline = Date.now() + workMs;
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
      async (held) => {
        const deployed = await readDeployed(parts.topologyTable);
        if (!deployed)
          throw new SchemalessError('unavailable', 'Nothing done: no migration has said yet what is deployed');
        return work({ ...parts, stateTable, deployed, mayGoOn: () => !held.aborted && Date.now() < deadline });
      },
    );
    if (ended) return ended.result;
    throw new SchemalessError('unavailable', 'Not done, repeat it: a migration, an apply or a deletion is under way');
  };
  return {
    apply: (wished, dryRun) => alone((all) => applyDefinitions(all, wished, dryRun)),
    deleteIndex: (datastore, index, how) => alone((all) => deleteIndex(all, datastore, index, how)),
    deleteTrigger: (datastore, trigger, how) => alone((all) => deleteTrigger(all, datastore, trigger, how)),
  };
}

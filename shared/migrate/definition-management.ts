import { randomUUID } from 'node:crypto';
import type { DeleteOptions } from '../api/definitions.ts';
import type { Definitions } from '../definitions/definitions.ts';
import { leases } from '../dynamo/lease.ts';
import { underLease } from '../dynamo/under-lease.ts';
import { SchemalessError } from '../errors.ts';
import { readDeployed } from '../topology/defined.ts';
import { overState } from '../triggers/manage/unavailable.ts';
import { applyDefinitions } from './apply-definitions.ts';
import type { DefinitionParts } from './definition-parts.ts';
import { deleteIndex, deleteTrigger } from './delete-definitions.ts';

interface DefinitionManagementOptions extends Omit<DefinitionParts, 'deployed' | 'mayGoOn'> {
  /** Milliseconds in which a call begins statements. @default 15,000: less than a request may take */
  readonly workMs?: number;
}

export type DefinitionManagement = ReturnType<typeof definitionManagement>;

/** With `STATEMENT_MS` for the last statement, a call ends before the API times out, at 27 s. */
const WORK_MS = 15_000;
/** The timeout of a statement: creating or dropping a database takes long on a busy cluster. */
export const STATEMENT_MS = 10_000;
const LEASE_MS = 10_000;
const RENEW_MS = 2000;
const TAKE_PAUSE_MS = 200;

/** Applies and deletes definitions under the migration's lease, so that no deployment interferes. */
export function definitionManagement(options: DefinitionManagementOptions) {
  const { workMs = WORK_MS, stateTable, ...parts } = options;
  const alone = async <T>(work: (parts: DefinitionParts) => Promise<T>): Promise<T> => {
    // The clock backs the timer, which comes late in a function that was frozen after its response.
    const deadline = Date.now() + workMs;
    const leased = {
      // Two calls of one instance are two lease holders.
      leases: leases(stateTable, randomUUID(), LEASE_MS),
      name: 'migrate',
      renewMs: RENEW_MS,
      takeEveryMs: TAKE_PAUSE_MS,
      isExclusive: true,
      signal: AbortSignal.timeout(workMs),
    };
    const ended = await overState(() =>
      underLease(leased, async (held) => {
        const deployed = await readDeployed(parts.topologyTable);
        if (!deployed)
          throw new SchemalessError('unavailable', 'Nothing done: no migration has recorded yet what is deployed');
        return work({ ...parts, stateTable, deployed, mayGoOn: () => !held.aborted && Date.now() < deadline });
      }),
    );
    if (ended) return ended.result;
    throw new SchemalessError('unavailable', 'Not done, retry: a migration, an apply or a deletion is under way');
  };
  return {
    apply: (desired: Definitions, dryRun: boolean) => alone((all) => applyDefinitions(all, desired, dryRun)),
    deleteIndex: (datastore: string, index: string, options: DeleteOptions) =>
      alone((all) => deleteIndex(all, datastore, index, options)),
    deleteTrigger: (datastore: string, trigger: string, options: DeleteOptions) =>
      alone((all) => deleteTrigger(all, datastore, trigger, options)),
  };
}

import { scopeOf, shardOf, type ErasureTarget } from '../address.ts';
import { requireServed } from '../access/groups.ts';
import { LIMITS } from '../cell.ts';
import type { Erasure, ErasureOperations } from '../api/erasures.ts';
import { SchemalessError } from '../errors.ts';
import { overState } from '../triggers/manage/unavailable.ts';
import { carryOut, newErasure } from './carry-out.ts';
import type { ErasureWork } from './erasure-work.ts';
import { retentionStatus } from './retention/retained.ts';
import {
  beginErasure,
  idOf,
  listErasures,
  MOST_OPEN,
  openErasures,
  readErasure,
  writeProgress,
} from './erasure-record.ts';

export type ErasureManagement = ReturnType<typeof erasureManagement>;

/** Returns operations on the erasures of every datastore. */
export function erasureManagement(work: ErasureWork) {
  return {
    /** Returns operations whose records name `caller`. Throws SchemalessError `unknown_datastore`. */
    async erasures(datastore: string, caller: string): Promise<ErasureOperations> {
      const { shards } = await requireServed(work.context.topology, datastore);
      return erasureOperations(work, { datastore, shards, caller });
    },
  };
}

/** The caller gets a response well before a gateway times out; the background job does the rest. */
const PATIENCE_MS = 8000;
/** Pauses before polls of the replicas, which follow within milliseconds. */
const POLLS_MS = [0, 10, 40, 150, 400, 1000];

interface Asked {
  readonly datastore: string;
  readonly shards: number;
  readonly caller: string;
}

function erasureOperations(work: ErasureWork, { datastore, shards, caller }: Asked): ErasureOperations {
  const { stateTable } = work;
  return {
    async eraseCells(request) {
      const target = targetOf(request);
      return overState(async () => {
        const asked = newErasure({
          id: idOf(datastore, target),
          scope: scopeOf(target),
          row_key: target.row_key,
          column_name: target.column_name ?? null,
          ref_key: target.ref_key ?? null,
          up_to: target.up_to ?? null,
          shard: shardOf(target.row_key, shards),
          reason: request.reason,
          requested_by: caller,
        });
        const begun = await beginErasure(stateTable, datastore, asked);
        if (!begun)
          throw new SchemalessError(
            'unavailable',
            `${MOST_OPEN} erasures of ${datastore} are under way: retry once some are done`,
          );
        const until = performance.now() + PATIENCE_MS;
        const patience = { mayGoOn: () => performance.now() < until, pollsMs: POLLS_MS };
        return writeProgress(stateTable, datastore, begun, await carryOut(work, datastore, begun, patience));
      });
    },
    async getErasure({ erasure: id }) {
      const found = await overState(() => readErasure(stateTable, datastore, id));
      if (found) return found;
      throw new SchemalessError('unknown_erasure', `${datastore} has no record of an erasure ${id}`, {
        field: 'erasure',
      });
    },
    listErasures: ({ open = false, limit = LIMITS.defaultLimit, after } = {}) =>
      overState(async () => {
        if (open) return openPage(work, datastore, after, limit);
        const { erasures, next } = await listErasures(stateTable, datastore, after, limit);
        return { erasures, next: next ?? null };
      }),
    getRetention: () => overState(() => retentionStatus(work, datastore)),
  };
}

async function openPage(
  { stateTable }: ErasureWork,
  datastore: string,
  after: string | undefined,
  limit: number,
): Promise<{ readonly erasures: readonly Erasure[]; readonly next: string | null }> {
  const ids = (await openErasures(stateTable, datastore)).toSorted().filter((id) => after === undefined || id > after);
  const page = ids.slice(0, limit);
  const found = await Promise.all(page.map((id) => readErasure(stateTable, datastore, id)));
  return {
    erasures: found.filter((erasure) => erasure !== undefined),
    next: ids.length > limit ? (page.at(-1) ?? null) : null,
  };
}

/** Returns a request's target. All versions of a column are the column. */
function targetOf({
  row_key,
  column_name,
  ref_key,
  up_to,
}: Parameters<ErasureOperations['eraseCells']>[0]): ErasureTarget {
  if (column_name === undefined) return { row_key };
  if (ref_key !== undefined) return { row_key, column_name, ref_key };
  return up_to === undefined || up_to === LIMITS.refKey ? { row_key, column_name } : { row_key, column_name, up_to };
}

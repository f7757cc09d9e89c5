import {
  parseColumnName,
  parseCount,
  parseRefKey,
  parseRowKey,
  shardOf,
  ERASABLE_NAME_BYTES,
  scopeOf,
  type ErasureTarget,
} from '../address.ts';
import { requireServed } from '../access/groups.ts';
import { LIMITS } from '../cell.ts';
import type { Erasure, ErasureOperations, ErasureRequest } from '../contract/erasure-operations.ts';
import { invalidField, missingField, SchemalessError } from '../errors.ts';
import { overState } from '../triggers/manage/unavailable.ts';
import { carryOut, newErasure } from './carry-out.ts';
import type { ErasureWork } from './erasure-work.ts';
import { retentionStatus } from './retention/retention-status.ts';
import {
  beginErasure,
  idOf,
  listErasures,
  MOST_OPEN,
  openErasures,
  readErasure,
  writeProgress,
} from './erasure-record.ts';

/** The erasures of every datastore, for those who ask for them. */
export interface ErasureManagement {
  /** `caller`: who asks, for the records. Throws SchemalessError `unknown_datastore`. */
  erasures(datastore: string, caller: string): Promise<ErasureOperations>;
}

export function erasureManagement(work: ErasureWork): ErasureManagement {
  return {
    async erasures(datastore, caller) {
      const { shards } = await requireServed(work.context.topology, datastore);
      return erasureOperations(work, { datastore, shards, caller });
    },
  };
}

/** Whoever asks is answered well before a gateway gives up; what is left is done in the background. */
const PATIENCE_MS = 8000;
/** Replicas are waited for, as they follow within milliseconds. */
const LOOKS_MS = [0, 10, 40, 150, 400, 1000];

interface Asked {
  readonly datastore: string;
  readonly shards: number;
  readonly caller: string;
}

function erasureOperations(work: ErasureWork, { datastore, shards, caller }: Asked): ErasureOperations {
  const { stateTable } = work;
  return {
    async erase(request) {
      const target = parseTarget(request);
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
            `${MOST_OPEN} erasures of ${datastore} are under way: repeat it once some are done`,
          );
        const until = performance.now() + PATIENCE_MS;
        const patience = { mayGoOn: () => performance.now() < until, looksMs: LOOKS_MS };
        return writeProgress(stateTable, datastore, begun, await carryOut(work, datastore, begun, patience));
      });
    },
    async erasure(id) {
      const found = await overState(() => readErasure(stateTable, datastore, parseId(id, 'erasure')));
      if (found) return found;
      throw new SchemalessError('unknown_erasure', `${datastore} has no record of an erasure ${id}`, {
        field: 'erasure',
      });
    },
    async erasures({ open = false, limit = LIMITS.defaultLimit, after } = {}) {
      const most = parseCount(limit, 'limit', 1, LIMITS.listCells);
      const last = after === undefined ? undefined : parseId(after, 'after');
      return overState(async () => {
        if (open) return openPage(work, datastore, last, most);
        const { erasures, next } = await listErasures(stateTable, datastore, last, most);
        return { erasures, next: next ?? null };
      });
    },
    retention: () => overState(() => retentionStatus(work, datastore)),
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

/** Throws `invalid_field`, `missing_field`. */
function parseTarget({ row_key, column_name, ref_key, up_to }: ErasureRequest): ErasureTarget {
  const row = { row_key: parseRowKey(row_key) };
  if (column_name === undefined) {
    const [stray] = Object.entries({ ref_key, up_to }).filter(([, value]) => value !== undefined);
    if (stray) throw missingField('column_name', `the column that ${stray[0]} is of`);
    return row;
  }
  const name = parseColumnName(column_name);
  const bytes = Buffer.byteLength(name);
  if (bytes > ERASABLE_NAME_BYTES)
    throw invalidField(
      'column_name',
      `at most ${ERASABLE_NAME_BYTES} bytes: a column of a longer name is erased with its row`,
      `${bytes} bytes`,
    );
  const column = { ...row, column_name: name };
  if (ref_key !== undefined && up_to !== undefined) throw invalidField('up_to', 'either `ref_key` or `up_to`', 'both');
  if (ref_key !== undefined) return { ...column, ref_key: parseRefKey(ref_key) };
  const last = up_to === undefined ? LIMITS.refKey : parseRefKey(up_to, 'up_to');
  return last === LIMITS.refKey ? column : { ...column, up_to: last };
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

function parseId(id: string, field: string): string {
  if (!ID.test(id)) throw invalidField(field, 'the id of an erasure', id);
  return id;
}

import type { Erasure } from '../api/erasures.ts';
import { changeItem, type ItemChange } from '../dynamo/change-item.ts';
import { readState, updateState, type StateItem } from '../dynamo/state-table.ts';
import { scanState, type DynamoTable } from '../dynamo/table.ts';
import { erasureAddress, type ErasureTarget } from '../address.ts';
import { uuidV5 } from '../uuid-v5.ts';

/**
 * The records of erasures: `erasure#trips#ID` of the state table, each for good. `erasures#trips` lists those not done,
 * from before they begin, so that other processes finish them after a crash.
 */

/** Erasures of a datastore that may be under way at once: the ids of more would not fit into one item. */
export const MOST_OPEN = 5000;

/** The namespace of ids: the same target has the same id. */
const NAMESPACE = '5e0c7a8e-6f0a-4a5b-9d55-3f6f4e0f2b61';

export function idOf(datastore: string, target: ErasureTarget): string {
  const { row_key, column_name, ref_key } = erasureAddress(target);
  return uuidV5(NAMESPACE, JSON.stringify([datastore, row_key, column_name, ref_key]));
}

const keyOf = (datastore: string, id: string): string => `erasure#${datastore}#${id}`;
const openKey = (datastore: string): string => `erasures#${datastore}`;

export async function readErasure(table: DynamoTable, datastore: string, id: string): Promise<Erasure | undefined> {
  return toErasure(await readState(table, keyOf(datastore, id)));
}

/** Begins an erasure, or repeats a done one. Returns its record; undefined if too many are under way. */
export async function beginErasure(
  table: DynamoTable,
  datastore: string,
  erasure: Erasure,
): Promise<Erasure | undefined> {
  if (!(await list(table, datastore, erasure.id))) return undefined;
  return changeErasure(table, datastore, erasure.id, (seen) =>
    seen ? { ...seen, state: 'erasing', cleaned: erasure.cleaned, waits_for: null, backups_until: null } : erasure,
  );
}

/** Lists an erasure as open. Returns false if too many are listed. */
async function list(table: DynamoTable, datastore: string, id: string): Promise<boolean> {
  const listed = await updateState(table, {
    key: openKey(datastore),
    update: 'ADD #open :id',
    condition: `attribute_not_exists(#open) OR size(#open) < :most OR contains(#open, :one)`,
    values: { ':id': { SS: [id] }, ':one': { S: id }, ':most': { N: String(MOST_OPEN) } },
  });
  return listed !== undefined;
}

/** The progress of a run with an erasure. */
export interface ErasureProgress extends Pick<
  Erasure,
  'state' | 'added_id' | 'cleaned' | 'waits_for' | 'backups_until'
> {
  /** In this run only. */
  readonly erased: Pick<Erasure, 'cells' | 'bytes'>;
}

/** Writes the progress of a run. Takes an erasure that is done everywhere from the list. */
export async function writeProgress(
  table: DynamoTable,
  datastore: string,
  begun: Erasure,
  { erased, added_id, ...progress }: ErasureProgress,
): Promise<Erasure> {
  const written = await changeErasure(
    table,
    datastore,
    begun.id,
    (seen) =>
      // A record that went with its datastore is not recreated.
      seen && {
        ...seen,
        ...progress,
        added_id: added_id ?? seen.added_id,
        erased_at: seen.erased_at ?? (progress.state === 'erased' ? new Date().toISOString() : null),
        cells: seen.cells + erased.cells,
        bytes: seen.bytes + erased.bytes,
      },
  );
  if (!written) return begun;
  if (progress.state === 'erased') await unlist(table, datastore, begun.id);
  // A concurrent run may have found it done, and taken it from the list.
  else await list(table, datastore, begun.id);
  return written;
}

/** Reads the ids of erasures that are not done. */
export async function openErasures(table: DynamoTable, datastore: string): Promise<readonly string[]> {
  return (await readState(table, openKey(datastore)))?.['open']?.SS ?? [];
}

/**
 * Takes an id from the list, whose erasure is done, or whose record was never written, so that no caller knows of it.
 * Lists it again if the erasure has begun again in between.
 */
export async function unlist(table: DynamoTable, datastore: string, id: string): Promise<void> {
  await updateState(table, {
    key: openKey(datastore),
    update: 'DELETE #open :id',
    condition: 'attribute_exists(#open)',
    values: { ':id': { SS: [id] } },
  });
  if ((await readErasure(table, datastore, id))?.state === 'erasing') await list(table, datastore, id);
}

/**
 * Reads a page of all records by a scan of the state table, since such requests are rare. Returns the id to continue
 * after; undefined at the end.
 */
export async function listErasures(
  table: DynamoTable,
  datastore: string,
  after: string | undefined,
  limit: number,
): Promise<{ readonly erasures: readonly Erasure[]; readonly next: string | undefined }> {
  const erasures: Erasure[] = [];
  const begin = after === undefined ? undefined : keyOf(datastore, after);
  for await (const page of scanState(table, keyOf(datastore, ''), { after: begin }))
    for (const item of page.items) {
      const erasure = toErasure(item);
      if (!erasure) continue;
      if (erasures.length === limit) return { erasures, next: erasures.at(-1)?.id };
      erasures.push(erasure);
    }
  return { erasures, next: undefined };
}

function changeErasure<Made extends Erasure | undefined>(
  table: DynamoTable,
  datastore: string,
  id: string,
  make: (seen: Erasure | undefined) => Made,
): Promise<Made> {
  return changeItem(table, keyOf(datastore, id), (item): ItemChange<Made> => {
    const erasure = make(toErasure(item));
    if (!erasure) return { result: erasure };
    return { values: { record: { S: JSON.stringify(erasure) } }, result: erasure };
  });
}

function toErasure(item: StateItem | undefined): Erasure | undefined {
  const text = item?.['record']?.S;
  return text === undefined ? undefined : (JSON.parse(text) as Erasure);
}

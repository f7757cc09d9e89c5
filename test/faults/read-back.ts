import type { BatchItem, Datastore } from '../../shared/contract/datastore.ts';
import type { AckedCell } from './load/ledger.ts';
import { markOf } from './load/mark.ts';

const KEYS = 100;
const SIDE_BY_SIDE = 4;

/**
 * Reads every acknowledged cell by its address, as a client would, from the writers. Returns how many are not there as
 * they were written.
 */
export async function countUnreadable(
  datastore: Pick<Datastore, 'batchGet'>,
  acked: readonly AckedCell[],
): Promise<number> {
  let [missing, next] = [0, 0];
  const read = async (): Promise<void> => {
    for (let start = next; start < acked.length; start = next) {
      next = start + KEYS;
      const page = acked.slice(start, start + KEYS);
      const items = await datastore.batchGet(
        page.map(({ row_key, column_name, ref_key }) => ({ row_key, column_name, ref_key })),
      );
      missing += page.filter((cell, place) => !isThat(cell, items[place])).length;
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, read));
  return missing;
}

function isThat(cell: AckedCell, item: BatchItem | undefined): boolean {
  if (!item || !('row_key' in item)) return false;
  return markOf(item) === cell.mark && (cell.added_id === 0 || cell.added_id === item.added_id);
}

import type { BufferOperations } from '../../../shared/contract/datastore.ts';
import { markOf } from '../load/mark.ts';
import { addressOf, type CellsThere } from '../stored-cells.ts';

/** Buffered writes that lost against another body. */
export interface KeptConflicts {
  readonly kept: number;
  /** Those that contradict nothing: the same body is at their address, or none. */
  readonly wrong: number;
}

const PAGE = 1000;

/** Holds the kept conflicts against what is on the primaries, and discards them. */
export async function discardConflicts(operations: BufferOperations, there: CellsThere): Promise<KeptConflicts> {
  let [kept, wrong] = [0, 0];
  for (;;) {
    const { conflicts } = await operations.bufferConflicts({ limit: PAGE });
    if (conflicts.length === 0) return { kept, wrong };
    kept += conflicts.length;
    wrong += conflicts.filter(
      (conflict) => (there.get(addressOf(conflict))?.mark ?? markOf(conflict)) === markOf(conflict),
    ).length;
    await operations.discardConflicts(conflicts.map(({ id }) => id));
  }
}

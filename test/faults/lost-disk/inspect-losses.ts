import type { Aftermath } from '../aftermath.ts';
import { storedLogs, type AckedCell, type StoredLog } from '../stored-cells.ts';
import type { Written } from '../load/ledger.ts';
import type { Stage } from '../stage.ts';
import type { DiskLoss, Heads } from './lose-disk.ts';

export interface LostAftermath {
  readonly aftermath: Aftermath;
  /** Acknowledged cells that have another added id than answered. */
  readonly again: number;
}

/** As `Stage.inspect`, where cells behind a cut may have been appended again. */
export async function inspectLosses(
  stage: Stage,
  written: Written,
  losses: readonly DiskLoss[],
): Promise<LostAftermath> {
  // Where they are is judged by `misplaced`: the store may have given them new added ids.
  const anywhere = written.acked.map((cell) => ({ ...cell, added_id: 0 }));
  const aftermath = await stage.inspect({ ...written, acked: anywhere });
  const moved = movedCells(written.acked, await storedLogs(stage.access.groups));
  const cuts = new Map(losses.flatMap(({ cut }) => [...cut]));
  const { moved: _moved, ...faults } = aftermath.faults;
  return {
    aftermath: { ...aftermath, faults: { misplaced: misplaced(moved, cuts), ...faults } },
    again: moved.length,
  };
}

/**
 * Counts acknowledged cells that are at another place of their log than answered, though no cut explains it: a cell
 * that was lost with a disk is appended again behind the cut; what the promoted reader had stays where it was.
 *
 * @param cuts where each log was cut; shards that are not named were not
 */
function misplaced(moved: readonly Moved[], cuts: Heads): number {
  const isExplained = ({ shard, added_id, there }: Moved): boolean =>
    Math.min(added_id, there) > (cuts.get(shard) ?? Number.POSITIVE_INFINITY);
  return moved.filter((one) => !isExplained(one)).length;
}

interface Moved extends AckedCell {
  /** Its added id now. */
  readonly there: number;
}

/** Those that are at another place of their log than answered. */
function movedCells(acked: readonly AckedCell[], logs: readonly StoredLog[]): readonly Moved[] {
  const addedIds = new Map(
    logs.flatMap(({ ids, marks }) => marks.map((mark, position) => [mark, ids[position] ?? 0] as const)),
  );
  return acked
    .map((cell) => ({ ...cell, there: addedIds.get(cell.mark) ?? cell.added_id }))
    .filter(({ added_id, there }) => added_id > 0 && there !== added_id);
}

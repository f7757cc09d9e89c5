import type { AckedCell } from '../load/ledger.ts';
import type { StoredLog } from '../stored-logs.ts';
import type { Heads } from './copies.ts';

/**
 * Counts acknowledged cells that are at another place of their log than answered, though no cut explains it: a cell
 * that was lost with a disk is appended again behind the cut; what the promoted reader had stays where it was.
 *
 * @param cuts where each log was cut; shards that are not named were not
 */
export function misplaced(acked: readonly AckedCell[], logs: readonly StoredLog[], cuts: Heads): number {
  const places = new Map(
    logs.flatMap(({ ids, marks }) => marks.map((mark, place) => [mark, ids[place] ?? 0] as const)),
  );
  return acked.filter(({ mark, shard, added_id }) => {
    const there = places.get(mark);
    if (there === undefined || added_id === 0 || there === added_id) return false;
    return Math.min(added_id, there) <= (cuts.get(shard) ?? Number.POSITIVE_INFINITY);
  }).length;
}

/** How many were appended again behind a cut. */
export function appendedAgain(acked: readonly AckedCell[], logs: readonly StoredLog[]): number {
  const places = new Map(
    logs.flatMap(({ ids, marks }) => marks.map((mark, place) => [mark, ids[place] ?? 0] as const)),
  );
  return acked.filter(({ mark, added_id }) => added_id > 0 && (places.get(mark) ?? added_id) !== added_id).length;
}

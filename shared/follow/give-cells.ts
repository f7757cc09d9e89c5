import type { StoredPlace } from '../sql/statements/select-log-places.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { Follower, LogPlace } from './follower.ts';

/** What was read of one shard: its cells after the offset, in order, without a hole. */
export interface ShardCells {
  readonly shard: number;
  readonly generation: number;
  readonly places: readonly StoredPlace[];
}

/** A handler threw: nothing is known of its cells, and they will be given again. */
export class HandleError extends Error {
  constructor(follower: string, cause: unknown) {
    super(`${follower} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'HandleError';
  }
}

/** How far a shard is done. */
export interface CellsDone {
  /** So many of its cells: those of columns that the follower does not want are done with those before them. */
  readonly count: number;
  /** Of the last one among them that it wants. */
  readonly given: number | undefined;
}

/**
 * Gives a follower its cells of one group.
 *
 * @returns for each of `logs`, in order, how far it is done
 * @throws HandleError when the handler throws, or claims cells that it was not given
 */
export async function giveCells(follower: Follower, group: string, logs: readonly ShardCells[]): Promise<CellsDone[]> {
  const columns = follower.columns && new Set(follower.columns);
  const isWanted = ({ column_name }: StoredPlace): boolean => !columns || columns.has(column_name);
  const cells = logs.flatMap(({ shard, generation, places }) =>
    places
      .filter(isWanted)
      .map((place): LogPlace => ({ ...place, shard, generation, fingerprint: fingerprintOf(place) })),
  );
  const done = cells.length === 0 ? new Map<number, number>() : await handle(follower, group, cells);
  return logs.map(({ shard, places }) => {
    const id = done.get(shard);
    const last = id === undefined ? -1 : places.findIndex(({ added_id }) => added_id === id);
    if (id !== undefined && last < 0)
      throw new HandleError(follower.name, `wanted an added id that was given to it, got ${id} of shard ${shard}`);
    // Up to the next cell that is wanted, but not done.
    const undone = places.findIndex((place, at) => at > last && isWanted(place));
    const count = undone < 0 ? places.length : undone;
    return { count, given: id };
  });
}

async function handle(
  follower: Follower,
  group: string,
  cells: readonly LogPlace[],
): Promise<ReadonlyMap<number, number>> {
  try {
    return await follower.handle(group, cells);
  } catch (error) {
    throw new HandleError(follower.name, error);
  }
}

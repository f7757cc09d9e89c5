import { isOfColumns } from '../address.ts';
import type { StoredLogEntry } from '../sql/statements/select-log-entries.ts';
import { fingerprintOf } from './offsets.ts';
import type { Follower, LogEntry } from './follower.ts';

/** The cells of one shard after the offset, in order, without a hole. */
interface ShardCells {
  readonly shard: number;
  readonly generation: number;
  readonly entries: readonly StoredLogEntry[];
}

/** A handler threw: its cells will be given again. */
export class HandleError extends Error {
  constructor(follower: string, cause: unknown) {
    super(`${follower} failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'HandleError';
  }
}

interface CellsDone {
  /** Cells that are done; those of unwanted columns are done with the cells before them. */
  readonly count: number;
  /** The last wanted one among them. */
  readonly given: number | undefined;
}

/**
 * Gives a follower its cells of one group, and returns for each of `logs` how far it is done. Throws HandleError if the
 * handler throws, or claims cells that it was not given.
 */
export async function giveCells(follower: Follower, group: string, logs: readonly ShardCells[]): Promise<CellsDone[]> {
  const isWanted = wantedBy(follower);
  const cells = logs.flatMap(({ shard, generation, entries }) =>
    entries
      .filter(isWanted)
      .map((entry): LogEntry => ({ ...entry, shard, generation, fingerprint: fingerprintOf(entry) })),
  );
  const done = cells.length === 0 ? new Map<number, number>() : await handle(follower, group, cells);
  return logs.map(({ shard, entries }) => {
    const id = done.get(shard);
    const last = id === undefined ? -1 : entries.findIndex(({ added_id }) => added_id === id);
    if (id !== undefined && last < 0)
      throw new HandleError(follower.name, `wanted an added id that was given to it, got ${id} of shard ${shard}`);
    const undone = entries.findIndex((entry, at) => at > last && isWanted(entry));
    const count = undone < 0 ? entries.length : undone;
    return { count, given: id };
  });
}

function wantedBy({ columns }: Follower): (entry: StoredLogEntry) => boolean {
  return columns ? (entry) => isOfColumns(entry, columns) : () => true;
}

async function handle(
  follower: Follower,
  group: string,
  cells: readonly LogEntry[],
): Promise<ReadonlyMap<number, number>> {
  try {
    return await follower.handle(group, cells);
  } catch (error) {
    throw new HandleError(follower.name, error);
  }
}

import { LIMITS, type NewCell } from '../cell.ts';
import { fromSqlTime } from '../time.ts';
import { areRestored } from '../sql/statements/append-cells.ts';
import type { BufferedCell } from '../sql/statements/insert-buffered.ts';
import { concernedIndexes, wantRowsAfter, type RowsAfter } from '../index/rows-after.ts';
import { appendToPrimary } from './append.ts';
import type { AppendResult } from './append-result.ts';
import type { StoreContext } from '../access/context.ts';
import { batchedByKey } from '../access/batched.ts';
import { Quarantine } from '../sql/quarantine.ts';
import { bufferOn, encodedBytes, withdrawCopies, type HintPart } from './hints.ts';

/** More would wait for its lock row with a connection each; one statement appends a hundred cells. */
const APPENDS_OF_A_SHARD = 1;
/** Inserts of hints do not wait for each other. */
const COPIES_OF_A_GROUP = 2;
/** Encoded bytes that are batched at most: small cells do not wait for a large one. */
const BATCHED_BYTES = 256 * 1024;

export interface BatchedWrites {
  /** As `appendToPrimary`: cells of one shard, no address twice. */
  append(shard: number, cells: readonly BufferedCell[]): Promise<AppendedPart>;
  /** Returns whether the group holds hints of the cells; does not send what is not wanted any more. */
  buffer(group: string, cells: readonly BufferedCell[], isWanted: () => boolean): Promise<boolean>;
  /** Takes back, in the background, hints that came when they were not wanted any more. */
  withdraw(group: string, cells: readonly BufferedCell[]): void;
  /** Groups whose hints came late. */
  readonly late: Quarantine;
}

/** A write's results, and its rows for the indexes if they were read. */
interface AppendedPart {
  readonly results: readonly AppendResult[];
  readonly group: string;
  readonly after?: RowsAfter;
}

interface Part<Where extends number | string> {
  readonly where: Where;
  readonly cells: readonly BufferedCell[];
}

/** Batches appends to a shard, and hints for a group, so that many writers share one lock and log sync. */
export function batchWrites(context: StoreContext, datastore: string): BatchedWrites {
  async function appendAll(shard: number, cells: readonly BufferedCell[]): Promise<AppendedPart> {
    const indexes = await concernedIndexes(context.topology, datastore, cells);
    if (indexes.length === 0) return appendToPrimary(context, datastore, shard, cells);
    const wanted = wantRowsAfter(context.found, { datastore, shard }, cells, indexes);
    const { results, epoch, group, rows } = await appendToPrimary(context, datastore, shard, cells, {
      readAfter: wanted.read,
    });
    if (!rows) return { results, group };
    const after = wanted.toRowsAfter(rows, epoch);
    return { results: withTimes(cells, results, after), group, after };
  }

  const append = batchedByKey<Part<number>, AppendedPart>(
    {
      atOnce: APPENDS_OF_A_SHARD,
      // Restored cells need another statement. A second write to an address is judged by the first one's cell.
      fits: (taken, next) =>
        isSmall(taken, next) &&
        areRestored(taken[0].cells) === areRestored(next.cells) &&
        !taken.some(({ cells }) => cells.some((cell) => next.cells.some((other) => isSameAddress(cell, other)))),
      async run(parts) {
        const appended = await appendAll(parts[0].where, cellsOf(parts));
        if (parts.length === 1) return [appended];
        let start = 0;
        return parts.map(({ cells }) => ({
          ...appended,
          results: appended.results.slice(start, (start += cells.length)),
        }));
      },
    },
    ({ where }) => where,
  );
  const buffer = batchedByKey<HintPart & Part<string>, boolean>(
    {
      atOnce: COPIES_OF_A_GROUP,
      fits: isSmall,
      async run(parts) {
        const wanted = parts.filter(({ isWanted }) => isWanted());
        const isHeld = wanted.length > 0 && (await bufferOn(context, parts[0].where, datastore, wanted));
        return parts.map((part) => isHeld && wanted.includes(part));
      },
    },
    ({ where }) => where,
  );
  return {
    append: (shard, cells) => append({ where: shard, cells }),
    buffer: (group, cells, isWanted) => buffer({ where: group, cells, isWanted }),
    withdraw: (group, cells) => void withdrawCopies(context, datastore, cells, [group]),
    late: new Quarantine(),
  };
}

function cellsOf(parts: readonly Part<number | string>[]): readonly BufferedCell[] {
  return parts.flatMap(({ cells }) => cells);
}

function isSmall(taken: readonly Part<number | string>[], next: Part<number | string>): boolean {
  let [count, bytes] = [next.cells.length, encodedBytes(next.cells)];
  for (const { cells } of taken) {
    count += cells.length;
    bytes += encodedBytes(cells);
  }
  return count <= LIMITS.batchCells && bytes <= BATCHED_BYTES;
}

function isSameAddress(a: BufferedCell, b: BufferedCell): boolean {
  return a.ref_key === b.ref_key && a.row_key === b.row_key && a.column_name === b.column_name;
}

function withTimes(
  cells: readonly NewCell[],
  results: readonly AppendResult[],
  { states }: RowsAfter,
): readonly AppendResult[] {
  return results.map((result, position) => {
    if (result.outcome !== 'stored' || result.created_at !== undefined) return result;
    const { row_key, column_name, ref_key } = cells[position] as NewCell;
    const found = states
      .find(({ row }) => row.row_key === row_key)
      ?.cells.get(column_name)
      ?.find((cell) => cell.ref_key === ref_key && cell.added_id === result.added_id);
    return found ? { ...result, created_at: fromSqlTime(found.createdAt) } : result;
  });
}

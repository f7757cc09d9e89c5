import type { BufferedCell } from '../sql/encoded-cell.ts';
import type { StoreContext } from '../access/context.ts';
import { concernedIndexes, wantRowsAfter, type RowsAfter } from '../index/rows-after.ts';
import { fromSqlTime } from '../time.ts';
import { appendToPrimary } from './append.ts';
import type { AppendResult } from './append-result.ts';

interface AppendedPart {
  readonly results: readonly AppendResult[];
  readonly group: string;
  /** The state of its rows for the indexes, if it was read. */
  readonly after?: RowsAfter;
}

export type Append = typeof appendToPrimary;

/** Appends by `append`, and reads the rows that indexes need in the same round trip if possible. */
export async function appendAndRead(
  context: StoreContext,
  datastore: string,
  shard: number,
  cells: readonly BufferedCell[],
  append: Append = appendToPrimary,
): Promise<AppendedPart> {
  const indexes = await concernedIndexes(context.topology, datastore, cells);
  if (indexes.length === 0) return append(context, datastore, shard, cells);
  const wanted = wantRowsAfter(context.found, { datastore, shard }, cells, indexes);
  const { results, epoch, group, rows } = await append(context, datastore, shard, cells, { readAfter: [wanted.read] });
  const [read] = rows ?? [];
  if (!read) return { results, group };
  const after = wanted.toRowsAfter(read, epoch);
  return { results: withTimes(cells, results, after), group, after };
}

function withTimes(
  cells: readonly BufferedCell[],
  results: readonly AppendResult[],
  { states }: RowsAfter,
): readonly AppendResult[] {
  return results.map((result, position) => {
    if (result.outcome !== 'stored' || result.created_at !== undefined) return result;
    const { row_key, column_name, ref_key } = cells[position] as BufferedCell;
    const found = states
      .find(({ row }) => row.row_key === row_key)
      ?.cells.get(column_name)
      ?.find((cell) => cell.ref_key === ref_key && cell.added_id === result.added_id);
    return found ? { ...result, created_at: fromSqlTime(found.createdAt) } : result;
  });
}

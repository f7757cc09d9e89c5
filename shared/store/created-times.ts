import type { NewCell } from '../cell.ts';
import { placeOf, type StoreContext } from '../access/context.ts';
import { requireDatastore } from '../access/groups.ts';
import type { RowsAfter } from '../index/rows-after.ts';
import { SchemalessError } from '../errors.ts';
import { SqlError } from '../sql/client.ts';
import { selectCreated, toCreated } from '../sql/statements/select-created.ts';
import { fromSqlTime } from '../time.ts';
import type { AppendResult } from './append.ts';

/** Cells of one shard, and what became of them. */
export interface AppendedCells {
  readonly datastore: string;
  readonly shard: number;
  readonly cells: readonly NewCell[];
  readonly results: readonly AppendResult[];
}

/** Says when cells were appended, as far as rows that were read behind the append show them: costs nothing. */
export function withTimesOfRows(
  { cells, results }: Pick<AppendedCells, 'cells' | 'results'>,
  { states }: RowsAfter,
): readonly AppendResult[] {
  return results.map((result, place) => {
    if (!lacksTime(result)) return result;
    const { row_key, column_name, ref_key } = cells[place] as NewCell;
    const found = states
      .find(({ row }) => row.row_key === row_key)
      ?.cells.get(column_name)
      ?.find((cell) => cell.ref_key === ref_key && cell.added_id === result.added_id);
    return found ? { ...result, created_at: fromSqlTime(found.createdAt) } : result;
  });
}

/** The same from what `selectCreated` brought, by the places of the cells. */
export function withTimes(
  results: readonly AppendResult[],
  times: ReadonlyMap<number, string>,
): readonly AppendResult[] {
  return results.map((result, place) => {
    const created_at = times.get(place);
    return lacksTime(result) && created_at !== undefined ? { ...result, created_at } : result;
  });
}

/** Asks the writer for the times that are still missing. Where it cannot answer they stay so: the cells are stored. */
export async function withMissingTimes(
  context: StoreContext,
  { datastore, shard, cells, results }: AppendedCells,
): Promise<readonly AppendResult[]> {
  const missing = [...results.keys()].filter((place) => lacksTime(results[place] as AppendResult));
  if (missing.length === 0) return results;
  try {
    const { group } = placeOf(await requireDatastore(context.topology, datastore), shard);
    const client = await context.groups.client(group);
    const addresses = missing.map((place) => cells[place] as NewCell);
    const times = toCreated(await client.select(selectCreated(datastore, shard, addresses), 'writer'));
    return withTimes(results, new Map([...times].map(([item, time]) => [missing[item] as number, time])));
  } catch (error) {
    if (error instanceof SqlError || error instanceof SchemalessError) return results;
    throw error;
  }
}

type Stored = Extract<AppendResult, { outcome: 'stored' | 'stored_before' }>;

function lacksTime(result: AppendResult): result is Stored {
  return result.outcome !== 'conflict' && result.created_at === undefined;
}

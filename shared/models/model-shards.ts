import { parseCount, shardDatabase } from '../address.ts';
import { LIMITS, type ErasureNote } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { groupBy } from '../group-by.ts';
import type { CellJson } from './model-column.ts';
import type { ModelDatastore } from './declaration.ts';

export type Shards = ReturnType<typeof shardsOf>;

const FAR_FUTURE = '9999-01-01T00:00:00Z';

export function shardsOf(datastore: ModelDatastore) {
  let known: number | undefined;
  const count = async (): Promise<number> => (known ??= (await datastore.heads()).length);
  return {
    count,
    async *all(): AsyncGenerator<number> {
      const shards = await count();
      for (let shard = 0; shard < shards; shard += 1) yield shard;
    },
    async lastId(shard: number): Promise<number> {
      // With no cell read, `next` is the added id of the location. This reads only one shard.
      return (await readLog(datastore, { shard, since: FAR_FUTURE }, 1)).next;
    },
    async groups(): Promise<ReadonlyMap<string, readonly number[]>> {
      const heads = await datastore.heads();
      known ??= heads.length;
      const groups = groupBy(heads, ({ group }) => group);
      return new Map([...groups].map(([group, of]) => [group, of.map(({ shard }) => shard)]));
    },
  };
}

export interface LatestCells {
  /** In the order of their added ids. */
  readonly cells: readonly LoggedCell[];
  /** The cursor to continue from once all of `cells` are done; the caller keeps it. */
  readonly cursor: number;
  readonly more: boolean;
}

export interface LoggedCell extends CellJson {
  readonly added_id: number;
  /** The name of the model's cell: `base`. Empty for the erasure of a row, of any model. */
  readonly cell: string;
  readonly shard: number;
  /** Its body was erased, and is null. */
  readonly erased?: true;
  /** An erasure instead of a version: of the cell's versions up to `ref_key`, or of the whole record. */
  readonly erasure?: ErasureNote;
  /** Why its body, then null, cannot be decoded; later cells are unaffected. */
  readonly error?: SchemalessError;
}

export interface LogLocation {
  readonly shard: number;
  /** The added id of the last cell done. @default 0, the start */
  readonly cursor?: number;
  /** Cells of the log to read, 1 to 1000; those of other columns are skipped. @default 100 */
  readonly limit?: number;
}

/** Returns the next cells of a model in a shard's log. @param names of its cells, by their columns */
export async function latestCells(
  datastore: ModelDatastore,
  names: ReadonlyMap<string, string>,
  { shard, cursor = 0, limit = LIMITS.defaultLimit }: LogLocation,
): Promise<LatestCells> {
  const after = parseCount(cursor, 'cursor', 0, Number.MAX_SAFE_INTEGER);
  const { cells, next, more } = await readLog(datastore, { shard, after }, limit);
  const own = cells.flatMap((cell): LoggedCell[] => {
    const { row_key: uuid, added_id, created_at, column_name, ref_key, body, erased, erasure, error } = cell;
    const name = erasure?.scope === 'row' ? '' : names.get(column_name);
    if (name === undefined) return [];
    const logged = { added_id, uuid, created_at, column_name, ref_key, body, cell: name, shard };
    return [{ ...logged, ...(erased && { erased }), ...(erasure && { erasure }), ...(error && { error }) }];
  });
  return { cells: own, cursor: next, more };
}

async function readLog(
  datastore: ModelDatastore,
  location: Parameters<ModelDatastore['log']>[0][number],
  limit: number,
) {
  const [log] = await datastore.log([location], { limit });
  if (log === undefined) throw new SchemalessError('internal', 'The answer lacks the log that was asked for');
  if (log.error) throw log.error;
  return log;
}

/** Returns `0233`, as in database names: four digits, or more with over 10,000 shards. */
export function paddedShard(shard: number): string {
  return shardDatabase('', shard).slice(1);
}

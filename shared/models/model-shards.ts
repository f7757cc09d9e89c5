import { parseCount, shardDatabase } from '../address.ts';
import { LIMITS, type ErasureNote } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { CellJson } from './model-column.ts';
import type { ModelDatastore } from './declaration.ts';

export interface Shards {
  count(): Promise<number>;
  all(): AsyncGenerator<number>;
  lastId(shard: number): Promise<number>;
  groups(): Promise<ReadonlyMap<string, readonly number[]>>;
}

const FAR_FUTURE = '9999-01-01T00:00:00Z';

export function shardsOf(datastore: ModelDatastore): Shards {
  let known = datastore.shards;
  const count = async (): Promise<number> => (known ??= (await datastore.heads()).length);
  return {
    count,
    async *all() {
      const shards = await count();
      for (let shard = 0; shard < shards; shard += 1) yield shard;
    },
    async lastId(shard) {
      // With none read, `next` is what the location stands for: asks this one shard.
      return (await readLog(datastore, { shard, since: FAR_FUTURE }, 1)).next;
    },
    async groups() {
      const heads = await datastore.heads();
      known ??= heads.length;
      const groups = new Map<string, number[]>();
      for (const { group, shard } of heads) groups.set(group, [...(groups.get(group) ?? []), shard]);
      return groups;
    },
  };
}

export interface LatestCells {
  /** In the order in which they were stored. */
  readonly cells: readonly LoggedCell[];
  /** To go on from, once all of `cells` are done; to be kept by whoever reads. */
  readonly cursor: number;
  readonly more: boolean;
}

export interface LoggedCell extends CellJson {
  readonly id: number;
  /** The name of the model's cell: `base`. Empty of the erasure of a row, of whichever model it was. */
  readonly cell: string;
  readonly shard: number;
  /** Its body was erased, and is null. */
  readonly erased?: true;
  /** This is no version but an erasure: of those of the cell up to `ref_key`, or of the whole record. */
  readonly erasure?: ErasureNote;
  /** Why its body, which is null then, cannot be decoded: those behind it come all the same. */
  readonly error?: SchemalessError;
}

export interface LogLocation {
  readonly shard: number;
  /** The id of the last cell that was done. @default 0, the start */
  readonly cursor?: number;
  /** Cells of the log that are looked at, 1 to 1000; those of other columns are passed over. @default 100 */
  readonly limit?: number;
}

/** The next cells of a shard's log that are of a model. @param names of its cells, by their columns */
export async function latestCells(
  datastore: ModelDatastore,
  names: ReadonlyMap<string, string>,
  { shard, cursor = 0, limit = LIMITS.defaultLimit }: LogLocation,
): Promise<LatestCells> {
  const after = parseCount(cursor, 'cursor', 0, Number.MAX_SAFE_INTEGER);
  const { cells, next, more } = await readLog(datastore, { shard, after }, limit);
  const own = cells.flatMap((cell): LoggedCell[] => {
    const { row_key: uuid, added_id: id, created_at, column_name, ref_key, body, erased, erasure, error } = cell;
    const name = erasure?.scope === 'row' ? '' : names.get(column_name);
    if (name === undefined) return [];
    const logged = { id, uuid, created_at, column_name, ref_key, body, cell: name, shard };
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

/** `0233`, as databases are called: four digits, or more where there are over 10,000 shards. */
export function paddedShard(shard: number): string {
  return shardDatabase('', shard).slice(1);
}

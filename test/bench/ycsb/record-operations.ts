import type { NewCell } from '../../../shared/cell.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { Random } from '../../support/random.ts';
import { numberedRowKey } from '../growth/numbered-trips.ts';
import type { RecordNumbers } from './record-numbers.ts';
import { newFieldText, newRecord, positionInThread, THREAD_INDEX, type RecordColumn } from './records.ts';
import type { YcsbOperation } from './workloads.ts';

/** What the library and a client over HTTP do alike. */
export type RecordStore = Pick<Datastore, 'put' | 'getLatest' | 'query'>;

export interface RecordOperationsOptions {
  readonly datastore: RecordStore;
  readonly column: RecordColumn;
  readonly numbers: RecordNumbers;
  readonly random: Random;
  /** Which record is asked for. */
  readonly choose: () => number;
  /** Records of a scan: 1 to this. */
  readonly mostScanned: number;
}

/** Each does one operation, and returns whether it was answered as it must be. */
export type RecordOperations = Readonly<Record<YcsbOperation, () => Promise<boolean>>> & {
  /** Read-modify-writes that somebody else was faster than, and that read again. */
  readonly overtaken: number;
};

/**
 * The benchmark's operations, as this store has them:
 *
 * - read: the latest cell of a record, all fields.
 * - update: a cell with a higher ref key, by the clock, since nobody reads before. It has all ten fields, new: cells
 *   are written whole, where YCSB writes one field.
 * - insert: the first cell of a new row.
 * - scan: YCSB reads up to 100 records in the order of their keys, from a key on. There is no such order here, keys are
 *   spread over shards; what there is are entries of an index, under one value of its shard field, in the order of
 *   another field, from a value on, with the records' cells. The paper's example are the posts of one thread.
 * - read-modify-write: reads the latest cell, changes one field, and puts that under the next ref key, which only one
 *   of several can have: the others read again. The time of an operation is that of all of its tries.
 */
export function recordOperations({
  datastore,
  column,
  numbers,
  random,
  choose,
  mostScanned,
}: RecordOperationsOptions): RecordOperations {
  let [overtaken, lastRefKey] = [0, 0];

  function refKeyByTheClock(): number {
    lastRefKey = Math.max(lastRefKey + 1, Math.floor((performance.timeOrigin + performance.now()) * 1000));
    return lastRefKey;
  }

  const latest = (number: number): ReturnType<Datastore['getLatest']> =>
    datastore.getLatest({ row_key: numberedRowKey(column, number), column_name: column });
  const isStored = async (cell: NewCell): Promise<boolean> => (await datastore.put(cell)).outcome === 'stored';

  return {
    get overtaken() {
      return overtaken;
    },
    read: async () => (await latest(choose())).cell !== null,
    update: () => isStored(newRecord(column, choose(), refKeyByTheClock())),
    async insert() {
      const number = numbers.take();
      if (!(await isStored(newRecord(column, number)))) return false;
      numbers.acknowledge(number);
      return true;
    },
    async scan() {
      const { thread, post } = positionInThread(choose());
      const where = [
        { field: 'thread', operator: 'eq', values: [thread] },
        { field: 'post', operator: 'gte', values: [post] },
      ] as const;
      const { entries } = await datastore.query({
        index: THREAD_INDEX.name,
        where,
        order: 'post',
        limit: random.integer(1, mostScanned),
        columns: [column],
      });
      return entries.length > 0 && entries.every(({ cells }) => Array.isArray(cells) && cells.length === 1);
    },
    async 'read-modify-write'() {
      const number = choose();
      for (;;) {
        const { cell } = await latest(number);
        if (!cell) return false;
        const { row_key, column_name, ref_key, body } = cell;
        const changed = {
          ...(body as { readonly [field: string]: string }),
          [`field${random.integer(0, 9)}`]: newFieldText(),
        };
        const { outcome } = await datastore.put({ row_key, column_name, ref_key: ref_key + 1, body: changed });
        if (outcome !== 'conflict') return outcome === 'stored';
        overtaken += 1;
      }
    },
  };
}

import type { NewCell } from '../../../shared/cell.ts';
import { shardOf } from '../../../shared/address.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import type { OpenStore } from '../../support/store-access.ts';
import { inChunks } from '../../support/parallel.ts';

const BATCH = 100;
/** Batches under way at a time. */
const SIDE_BY_SIDE = 4;
const DRIVERS = 2000;
/** Of each row: two versions of BASE, the driver another one in half of the rows, and STATUS. */
const CELLS_A_ROW = 3;

/** Cells as they are before anybody thinks of an index. */
export class TripSource {
  readonly #random: Random;
  readonly #drivers: readonly string[];

  constructor(seed: string, writer: number) {
    this.#random = new Random(seed, 'trips', writer);
    this.#drivers = Array.from({ length: DRIVERS }, (_, number) =>
      randomRowKey(new Random(seed, 'trip drivers', number)),
    );
  }

  rowKey(): string {
    return randomRowKey(this.#random);
  }

  row(rowKey: string): readonly NewCell[] {
    const cells = [this.base(rowKey, 1), this.base(rowKey, 2)];
    const body = { is_completed: this.#random.chance(0.9), zone: this.#random.integer(1, 500) };
    return [...cells, { row_key: rowKey, column_name: 'STATUS', ref_key: 1, body }];
  }

  base(row_key: string, ref_key: number): NewCell {
    const random = this.#random;
    const driver = this.#drivers[random.integer(0, DRIVERS - 1)] ?? '';
    const body = {
      ...(random.chance(0.9) && { driver_partner_uuid: driver }),
      trip_created_at: new Date(1_760_000_000_000 + random.integer(0, 10 ** 9)).toISOString(),
      fare: { total: random.integer(100, 9999) / 100 },
    };
    return { row_key, column_name: 'BASE', ref_key, body };
  }
}

/**
 * Writes so many cells, about, in batches of 100, each to one shard: one append.
 *
 * @returns the rows
 */
export async function fill(
  { datastore }: Pick<OpenStore, 'datastore'>,
  cells: number,
  seed: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const source = new TripSource(seed, 0);
  const rows = Array.from({ length: Math.ceil(cells / CELLS_A_ROW) }, () => source.rowKey());
  const ofShards = rows.toSorted((one, other) => shardOf(one, datastore.shards) - shardOf(other, datastore.shards));
  const rowsABatch = Math.floor(BATCH / CELLS_A_ROW);
  let next = 0;
  await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async (_, lane) => {
      // Lanes are far apart, so that none waits for another's lock on a shard.
      const [begin, end] = [lane, lane + 1].map((one) => Math.ceil((one * ofShards.length) / SIDE_BY_SIDE));
      for (const some of inChunks(ofShards.slice(begin, end), rowsABatch)) {
        if (signal.aborted) return;
        const batch = some.flatMap((row) => source.row(row));
        const refused = (await datastore.batchPut(batch)).find(({ outcome }) => outcome !== 'stored');
        if (refused) throw new Error(`a cell was answered ${refused.outcome} while the datastore was filled`);
        next += batch.length;
      }
    }),
  );
  signal.throwIfAborted();
  if (next < cells) throw new Error(`${next} of ${cells} cells were written`);
  return rows;
}

import { describe, expect, it } from 'vitest';
import { SchemalessError } from '../../../shared/errors.ts';
import { shardSizes, sized, withoutOldBytes } from '../../../shared/moves/shard-sizes.ts';
import { toSizes } from '../../../shared/moves/statements/select-sizes.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 4;
const { store, trips, name, groupOf, rowIn } = await sharedTrips(SHARDS);

describe('the sizes of shards', () => {
  it('are bytes, and exactly the cells, of every shard, with all groups', async () => {
    const body = { text: 'x'.repeat(1000) };
    for (let ref_key = 0; ref_key < 20; ref_key += 1)
      await trips.put(cellOf({ row_key: rowIn(1), column_name: 'BASE', ref_key, body }));
    const { groups, shards } = await shardSizes(store.context, name);
    expect(groups.toSorted()).toEqual(store.groups.map((group) => group.name).toSorted());
    expect(shards.map(({ shard, group }) => [shard, group])).toEqual(
      Array.from({ length: SHARDS }, (_, shard) => [shard, groupOf(shard)]),
    );
    expect(shards.map((one) => one.error ?? one.cells)).toEqual([0, 20, 0, 0]);
    for (const one of shards) expect(one.error ?? one.bytes).toBeGreaterThan(0);
  });

  it('are of a datastore that there is', async () => {
    await expect(shardSizes(store.context, 'nope')).rejects.toMatchObject({ code: 'unknown_datastore' });
  });
});

describe('what the statistics say', () => {
  const rowsOf = (...databases: string[]) => databases.map((database) => [database, '65536', '100']);

  it('leaves out copies of shards, and another datastore whose name begins alike', () => {
    const found = toSizes(rowsOf('trips_0001', 'trips_0001_copy', 'trips_old_0001', 'trips_0002'), 'trips', [0, 1]);
    expect([...found]).toEqual([[1, { bytes: 65_536, rows: 100 }]]);
  });

  it('is brought to where the logs are, where they have outgrown it', () => {
    const heads = [150, 400, 1000, 0].map((head, shard) => ({ shard, group: 'one', head }));
    const sizes = new Map([
      [0, { bytes: 100_000, rows: 100 }],
      [1, { bytes: 100_000, rows: 100 }],
      // It was empty when it was looked at: as the others, 1000 bytes a cell.
      [2, { bytes: 16_384, rows: 0 }],
      [3, { bytes: 16_384, rows: 0 }],
    ]);
    expect(sized(heads, sizes).map((one) => one.error ?? one.bytes)).toEqual([100_000, 400_000, 1_000_000, 16_384]);
  });

  it('is of another day where cells are to take less than any do', () => {
    const sizesOf = (...bytes: readonly number[]) =>
      withoutOldBytes(bytes.map((one, shard) => ({ shard, group: 'one', bytes: one, cells: 12_500 }))).map((one) =>
        one.error ? one.error : one.bytes,
      );
    // As MySQL says after 300,000 cells came in ten seconds: of one shard in four it knows more.
    expect(sizesOf(3_200_000, 400_000, 100_000, 16_384)).toEqual([3_200_000, 3_200_000, 3_200_000, 3_200_000]);
    // Cells of one shard may be larger than those of others.
    expect(sizesOf(1_000_000_000, 100_000_000, 1_600_000)).toEqual([1_000_000_000, 100_000_000, 1_600_000]);
    // Of none.
    expect(sizesOf(16_384, 16_384)).toEqual([1_250_000, 1_250_000]);
  });

  it('is an error of a shard that is not there, or could not be read', () => {
    const error = new SchemalessError('unavailable', 'away');
    const heads = [
      { shard: 0, group: 'one', head: 1 },
      { shard: 1, group: 'one', error },
    ];
    const [gone, unread] = sized(heads, new Map());
    expect(gone?.error).toMatchObject({ code: 'unavailable', details: { more: { group: 'one' } } });
    expect(unread?.error).toBe(error);
  });
});

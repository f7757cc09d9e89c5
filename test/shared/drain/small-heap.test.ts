import { describe, expect, it } from 'vitest';
import type { BufferedCell } from '../../../shared/sql/encoded-cell.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change } from '../../support/plain-sql.ts';
import { smallHeap } from '../store/support/small-heap.ts';
import { promote } from './support/promotion.ts';

const SHARDS = 3;
const ROWS = 40;
/** As many as fit into 1 MiB of JSON: some hundred bytes as they are stored, 13 MB in memory. */
const LARGE = encodeBody(Array.from({ length: 349_000 }, () => []));

const opened = await sharedTrips(SHARDS);
const { store, trips, name, primary, hintHolder, holder } = opened;
/** A quarter of what all bodies take together, decoded; half, for an answer of 4 MiB that has a few of them. */
const [heap, heapForAnswers] = [128, 256].map((mb) => smallHeap(mb, { topologyTable: store.topologyTable.table }));

async function bufferMany(): Promise<void> {
  expect(LARGE.length).toBeLessThan(2000);
  const cells = rowsOfShard(0, SHARDS, ROWS).map((row_key): BufferedCell => ({
    ...cellOf({ row_key, body: null }),
    encoded: LARGE,
    shard: 0,
    writer: new Uint8Array(8),
  }));
  await holder.change(insertBuffered(name, cells));
}

describe('bodies that take 15 KB, and half a gigabyte when they are decoded', () => {
  it('are drained, and listed as conflicts, in a heap that a few of them fill', async () => {
    await bufferMany();
    expect(await heap?.run({ work: 'drain', group: hintHolder })).toBe(ROWS);
    expect((await trips.heads()).find((one) => one.shard === 0)).toMatchObject({ head: ROWS });
    await change(holder, "UPDATE schemaless.buffer SET state = 'conflict' WHERE datastore = ?", name);
    expect(await heapForAnswers?.run({ work: 'list conflicts', datastore: name })).toBe(ROWS);
    await change(holder, 'DELETE FROM schemaless.buffer WHERE datastore = ?', name);
  });

  it('are brought back in one', async () => {
    await bufferMany();
    await promote(opened);
    expect(await heap?.run({ work: 'recover', group: primary })).toEqual({ appended: ROWS, opened: 1, closed: [] });
  });
});

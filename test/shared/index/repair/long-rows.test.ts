import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeBody } from '../../../../shared/body/codec.ts';
import type { Json } from '../../../../shared/cell.ts';
import { rowsOfShard } from '../../../support/datastore-conformance.ts';
import { until } from '../../../support/until.ts';
import { smallHeap } from '../../store/support/small-heap.ts';
import { noEntries } from './support/entry-writes.ts';
import { sharedIndexed } from './support/indexed-store.ts';

const SHARDS = 3;
const VERSIONS = 16;
const HEAP_MB = 160;
/** Nearly 1 MiB of JSON, some hundreds of bytes as they are stored, and 13 MB as objects. */
const EMPTY: Json = Array.from({ length: 345_000 }, () => []);
const NEXT_TO = 30;

const indexed = await sharedIndexed(SHARDS, noEntries);
const heap = smallHeap(HEAP_MB, {
  topologyTable: indexed.store.topologyTable.table,
  stateTable: indexed.stateTable.table,
});
const writeNextTo = (rows: readonly string[]) =>
  indexed.write(rows.map((row_key) => ({ row_key, body: { driver: randomUUID(), city: 'beside' } })));
const missing = async (): Promise<number> => (await indexed.problems()).length;

it('a row of many cells waits until the entries of the rows next to it are written', async () => {
  const [row_key = '', ...others] = rowsOfShard(1, SHARDS, NEXT_TO + 1);
  await indexed.write(
    Array.from({ length: 20 }, (_, ref_key) => ({ row_key, ref_key, body: { driver: randomUUID() } })),
  );
  await writeNextTo(others);
  const seen: number[] = [];
  const run = indexed.repair({
    wrap: (client) => ({
      ...client,
      async select(statement, target) {
        // Of this row only: its earlier cells.
        if (statement.sql.includes('SUM(bytes) OVER')) seen.push(await missing());
        return client.select(statement, target);
      },
    }),
  });
  await until('all are repaired', async () => (await missing()) === 0);
  await run.stop();
  expect(Math.min(...seen), 'while its earlier cells are read').toBe(1);
});

describe('a row whose bodies are small as they are stored and large as objects', () => {
  it(`is repaired in ${HEAP_MB} MB of heap, ${VERSIONS} versions deep`, async () => {
    const [row_key = '', ...others] = rowsOfShard(0, SHARDS, NEXT_TO + 1);
    const write = (ref_key: number, driver = randomUUID()) =>
      indexed.write([{ row_key, ref_key, body: { driver, trace: EMPTY } }]);
    expect(encodeBody({ driver: randomUUID(), trace: EMPTY }).length).toBeLessThan(1000);
    for (let ref_key = 0; ref_key < VERSIONS; ref_key += 1) await write(ref_key);
    await writeNextTo(others);
    expect(await missing(), 'with the repair off').toBe(NEXT_TO + 1);

    const tombstones = () => indexed.countEntries('tombstone_at IS NOT NULL');
    const before = await tombstones();
    const running = heap.run<readonly string[]>({ work: 'repair' });
    const repaired = until('all are repaired', async () => (await tombstones()) === before + VERSIONS - 1);
    await Promise.race([repaired, running]);
    expect(await missing()).toBe(0);
    await write(VERSIONS);
    await Promise.race([
      until('the next cell is repaired', async () => (await tombstones()) === before + VERSIONS),
      running,
    ]);
    heap.end();
    expect(await running).toEqual([]);
    expect(await missing()).toBe(0);
  });
});

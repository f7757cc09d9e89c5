import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeBody } from '../../../../shared/body/codec.ts';
import type { Json } from '../../../../shared/cell.ts';
import { rowsOfShard } from '../../../support/datastore-conformance.ts';
import { until } from '../../../support/until.ts';
import { noEntries } from './support/entry-writes.ts';
import { sharedIndexed } from './support/indexed-store.ts';
import { startRepairProcess } from './support/start-repair-process.ts';

const SHARDS = 3;
/** Of one row, each of another driver. */
const VERSIONS = 40;
const HEAP_MB = 256;
/** Nearly 1 MiB of JSON, some hundreds of bytes as they are stored, and 13 MB as objects. */
const EMPTY: Json = Array.from({ length: 345_000 }, () => []);
/** Rows of the same shard, written after it. */
const BESIDE = 60;

const indexed = await sharedIndexed(SHARDS, noEntries);

describe('a row of many cells', () => {
  it('waits until the entries of the rows beside it are written', async () => {
    const [row_key = '', ...others] = rowsOfShard(1, SHARDS, BESIDE + 1);
    await indexed.write(
      Array.from({ length: 20 }, (_, ref_key) => ({ row_key, ref_key, body: { driver: randomUUID() } })),
    );
    await indexed.write(others.map((key) => ({ row_key: key, body: { driver: randomUUID(), city: 'beside' } })));
    const missing = async (): Promise<number> => (await indexed.problems()).length;
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
});

describe('a row whose bodies are small as they are stored and large as objects', () => {
  it(`is repaired in ${HEAP_MB} MB of heap, ${VERSIONS} versions deep`, async () => {
    const [row_key = '', ...others] = rowsOfShard(0, SHARDS, BESIDE + 1);
    const drivers = Array.from({ length: VERSIONS }, () => randomUUID());
    expect(encodeBody({ driver: drivers[0] ?? '', trace: EMPTY }).length).toBeLessThan(1000);
    for (const [ref_key, driver] of drivers.entries())
      await indexed.write([{ row_key, ref_key, body: { driver, trace: EMPTY } }]);
    await indexed.write(others.map((key) => ({ row_key: key, body: { driver: randomUUID(), city: 'beside' } })));
    expect((await indexed.problems()).length, 'with the repair off').toBe(BESIDE + 1);

    const tombstones = () => indexed.countEntries('tombstone_at IS NOT NULL');
    const before = await tombstones();
    const process = startRepairProcess(indexed, { settings: { behindMs: 100, lookMs: 500 }, heapMb: HEAP_MB });
    try {
      await until(
        'all are repaired, or the process is dead',
        async () => process.exit() !== null || (await tombstones()) === before + VERSIONS - 1,
        { patienceMs: 120_000 },
      );
      expect(process.exit(), process.lines.join('\n')).toBe(null);
      expect(await indexed.problems()).toEqual([]);
      expect(process.lines.filter((line) => line.includes('"failed"') || line.includes('_failed'))).toEqual([]);
      // One more cell, as of a row that is still being written.
      const driver = randomUUID();
      await indexed.write([{ row_key, ref_key: VERSIONS, body: { driver, trace: EMPTY } }]);
      await until('the next cell is repaired', async () => (await tombstones()) === before + VERSIONS);
    } finally {
      await process.stop();
    }
    expect(await indexed.problems()).toEqual([]);
  }, 300_000);
});

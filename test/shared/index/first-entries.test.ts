import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { shardOfValue } from '../../../shared/definitions/field-value.ts';
import { putEntries } from '../../../shared/index/statements/put-entries.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { WRITER_ONLY } from '../../support/writer-only.ts';
import { sharedIndexed } from './repair/support/indexed-store.ts';

const SHARDS = 4;
let written: ('put' | 'inserted')[] = [];
const indexed = await sharedIndexed(SHARDS, (client) => ({
  ...client,
  change: (statement) => {
    if (statement.sql.startsWith('INSERT INTO') && statement.sql.includes(' (f0, '))
      written.push(statement.sql.includes('ON DUPLICATE KEY') ? 'put' : 'inserted');
    return client.change(statement);
  },
}));
const index = await indexed.live();
beforeEach(() => {
  written = [];
});

async function plant(row_key: string, driver: string, epoch: number): Promise<void> {
  const shard = shardOfValue(driver, 'UUID', SHARDS);
  const row = { row_key, values: [driver, 'planted', null], tombstone: false, version: { epoch, added_id: 1_000_000 } };
  await indexed.client(shard).change(putEntries(indexed.datastore, shard, index, [row]));
  written = [];
}

async function cityOf(driver: string): Promise<unknown> {
  const { entries } = await indexed.trips.query({ index: index.name, where: { driver } });
  return entries.map(({ fields }) => fields['city']);
}

/** Skipped where each statement has its own commit: a shorter one tells little there. */
describe.skipIf(WRITER_ONLY)('the entry of a row', () => {
  it('is inserted with its first cell, and put with those that follow', async () => {
    const [row_key, driver] = [randomUUID(), randomUUID()];
    await indexed.write([{ row_key, body: { driver, city: 'Faro' } }]);
    expect(written).toEqual(['inserted']);
    await indexed.write([{ row_key, ref_key: 2, body: { driver, city: 'Lagos' } }]);
    expect(written).toEqual(['inserted', 'put']);
    expect(await cityOf(driver)).toEqual(['Lagos']);
    const body = { driver: randomUUID(), city: 'Faro' };
    await indexed.write([{ row_key, ref_key: 3, body }]);
    expect([await cityOf(driver), await cityOf(body.driver)]).toEqual([[], ['Faro']]);
  });

  it('is put where its cell was there before: a put that is repeated', async () => {
    const trip = { row_key: randomUUID(), body: { driver: randomUUID(), city: 'Faro' } };
    await indexed.write([trip]);
    written = [];
    const { outcome } = await indexed.trips.put(cellOf({ ...trip, ref_key: 1 }));
    expect([outcome, written]).toEqual(['stored_before', ['put']]);
  });

  it('that is there already, of a log that was cut since, is written over', async () => {
    const [row_key, driver] = [randomUUID(), randomUUID()];
    await plant(row_key, driver, 0);
    await indexed.write([{ row_key, body: { driver, city: 'Faro' } }]);
    expect(written).toEqual(['inserted', 'put']);
    expect(await cityOf(driver)).toEqual(['Faro']);
  });

  it('that is there already, of a later epoch, stays', async () => {
    const [row_key, driver] = [randomUUID(), randomUUID()];
    await plant(row_key, driver, 1000);
    await indexed.write([{ row_key, body: { driver, city: 'Faro' } }]);
    expect(await cityOf(driver)).toEqual(['planted']);
  });

  it('among others of new rows costs them nothing where it is there', async () => {
    const rows = Array.from({ length: 40 }, () => ({ row_key: randomUUID(), driver: randomUUID() }));
    const [first, second] = rows as [(typeof rows)[0], (typeof rows)[0]];
    await plant(first.row_key, first.driver, 0);
    await plant(second.row_key, second.driver, 1000);
    await indexed.write(rows.map(({ row_key, driver }) => ({ row_key, body: { driver, city: 'Faro' } })));
    const cities = await Promise.all(rows.map(({ driver }) => cityOf(driver)));
    expect(cities).toEqual(rows.map((row) => [row === second ? 'planted' : 'Faro']));
  });
});

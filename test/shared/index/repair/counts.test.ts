import { randomBytes } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { readState } from '../../../../shared/dynamo/state-table.ts';
import { dueTimes } from '../../../../shared/index/repair/due-times.ts';
import { indexTable } from '../../../../shared/index/index-table.ts';
import { readersOf } from '../../../support/readers-caught-up.ts';
import { until } from '../../../support/until.ts';
import { sharedIndexed } from './support/indexed-store.ts';
import { change } from '../../../support/plain-sql.ts';

const SHARDS = 3;
/** Several statements' worth; two; none. */
const ENTRIES = [24_000, 6000, 0];

const indexed = await sharedIndexed(SHARDS);

const index = await indexed.live();
for (const [shard, entries] of ENTRIES.entries()) {
  const client = indexed.client(shard);
  for (let start = 0; start < entries; start += 500) {
    const rows = Array.from(
      { length: 500 },
      () => `(X'${randomBytes(16).toString('hex')}', X'${randomBytes(16).toString('hex')}', 1, 1)`,
    );
    await change(
      client,
      `INSERT INTO ${indexTable(indexed.datastore, shard, index)} (f0, row_key, epoch, added_id) VALUES ${rows.join(', ')}`,
    );
  }
}
const share = async () =>
  (await indexed.store.topology.indexNow(indexed.datastore, 'drivers')).progress?.largest_share ?? 0;

/** A run whose counting statements are told to this. */
const counting = (told: (sql: string) => unknown) =>
  indexed.repair({
    settings: { countEveryMs: 100 },
    wrap: (client) => ({
      ...client,
      async select(statement, target) {
        if (statement.sql.includes('tombstone_at IS NULL')) await told(statement.sql);
        return client.select(statement, target);
      },
    }),
  });

describe('the count of entries', () => {
  it('is not lost, nor begun by another run, where it outlasts the minute of its own', async () => {
    await using readers = await readersOf(inject('servers').groups);
    await readers.caughtUp();
    let ended: Promise<unknown> | undefined;
    const dueAfterMs: number[] = [];
    const run = counting(async () => {
      ended ??= run.stop();
      const item = await readState(indexed.stateTable, `due#counts#${indexed.datastore}`);
      dueAfterMs.push(Number(item?.['due']?.N) - new Date().getTime());
    });
    await until('it is counted', () => ended !== undefined);
    await ended;
    expect(await share()).toBe(0.8);
    expect(Math.min(...dueAfterMs)).toBeGreaterThan(300_000);
  });

  it('is exact, and no statement reads more than a bounded number of them', async () => {
    await dueTimes(indexed.stateTable, indexed.datastore).doneFor('counts', 0);
    const statements = new Set<string>();
    const run = counting((sql) => statements.add(sql));
    await until('it is counted', () => statements.size > 0);
    await until('all of it', async () => (await share()) === 0.8);
    await run.stop();
    expect([...statements].filter((sql) => !/LIMIT 5000\)/u.test(sql))).toEqual([]);
  });
});

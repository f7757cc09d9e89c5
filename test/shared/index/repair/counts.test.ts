import { randomBytes } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { indexTable } from '../../../../shared/index/index-table.ts';
import { readersOf } from '../../../support/readers-caught-up.ts';
import { until } from '../../../support/until.ts';
import { sharedIndexed } from './support/indexed-store.ts';
import { change } from '../../../support/plain-sql.ts';

const SHARDS = 3;
/** Several statements' worth; two; none. */
const ENTRIES = [24_000, 6000, 0];

const indexed = await sharedIndexed(SHARDS);

describe('the count of entries', () => {
  it('is exact, and no statement reads more than a bounded number of them', async () => {
    const index = await indexed.live();
    for (const [shard, entries] of ENTRIES.entries()) {
      const client = await indexed.client(shard);
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
    await using readers = await readersOf(inject('servers').groups);
    await readers.caughtUp();
    const counting = new Set<string>();
    const run = indexed.repair({
      settings: { countEveryMs: 100 },
      wrap: (client) => ({
        ...client,
        select(statement, target) {
          if (statement.sql.includes('tombstone_at IS NULL')) counting.add(statement.sql);
          return client.select(statement, target);
        },
      }),
    });
    const share = async () =>
      (await indexed.store.topology.indexNow(indexed.datastore, 'drivers')).progress?.largest_share ?? 0;
    await until('it is counted, all of it', async () => (await share()) === 0.8);
    await run.stop();
    expect([...counting].filter((sql) => !/LIMIT 5000\)/u.test(sql))).toEqual([]);
  });
});

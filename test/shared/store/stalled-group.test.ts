import { afterEach, describe, expect, it } from 'vitest';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { sharedTrips } from '../../support/open-trips.ts';

const SHARDS = 12;
/** Statements with hints that go to a group at once. */
const MOST_SENT = 2;

let stalled = '';
const held: (() => void)[] = [];
/** Reads of the stalled group go on, and its writes wait. */
const wrap = (client: SqlClient, group: string): SqlClient => ({
  ...client,
  async change(statement) {
    if (group === stalled) await new Promise<void>((resolve) => held.push(resolve));
    return client.change(statement);
  },
});
const { trips, others, groupOf, rowIn } = await sharedTrips(SHARDS, { wrap });
const [sick = ''] = others;
const shards = Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => groupOf(shard) !== sick);
const write = (shard: number) => trips.put({ row_key: rowIn(shard), column_name: 'BASE', ref_key: 1, body: { shard } });

afterEach(() => {
  stalled = '';
  for (const goOn of held.splice(0)) goOn();
});

describe('a group whose writes stall', () => {
  it('keeps no write and no read of another group from being done, and gets few of their hints', async () => {
    stalled = sick;
    for (let round = 0; round < 4; round += 1) {
      const written = await Promise.all([...shards, ...shards, ...shards].map(write));
      expect(written.filter(({ outcome }) => outcome !== 'stored')).toEqual([]);
    }
    expect(held.length).toBeLessThanOrEqual(MOST_SENT);
    const read = await Promise.all(shards.map((shard) => trips.row(rowIn(shard))));
    expect(read.filter(({ served_by }) => served_by !== 'writer')).toEqual([]);
  });
});

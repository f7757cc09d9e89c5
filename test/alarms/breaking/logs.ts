import { encodeBody } from '../../../shared/body/codec.ts';
import { shardDatabase } from '../../../shared/address.ts';
import type { AlarmCase } from '../ring.ts';

const BODY = Buffer.from(encodeBody({ name: 'one of many' }));
const DIGITS =
  '(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)';

/** The only shard of a datastore, which lies in the first group. */
const FIRST = 'group-1';
const entityOf = (datastore: string): string => `\`${shardDatabase(datastore, 0)}\`.entity`;

/** More than `index-lag` lets wait. */
const MANY_CELLS = 100_200;

export const unreadableRows = (datastore: string): AlarmCase => ({
  sections: ['index-lag'],
  fault: `a shard's rows cannot be read, and ${MANY_CELLS} cells came`,
  fix: 'its table is altered back',
  withinMinutes: 30,
  async breaks(world) {
    const entity = entityOf(datastore);
    await world.sql(FIRST, `ALTER TABLE ${entity} RENAME COLUMN body TO altered`);
    const places = ['a', 'b', 'c', 'e', 'f', 'g'];
    const number = places.map((place, power) => `${10 ** power} * ${place}.d`).join(' + ');
    await world.sql(
      FIRST,
      `INSERT INTO ${entity} (added_id, row_key, column_name, ref_key, altered, created_at) ` +
        `SELECT number, UNHEX(LPAD(HEX(number), 32, '0')), 'BASE', 1, ?, SYSDATE(6) FROM ` +
        `(SELECT 1 + ${number} AS number FROM ${places.map((place) => `${DIGITS} AS ${place}`).join(' JOIN ')}) AS numbers ` +
        'WHERE number <= ?',
      [BODY, MANY_CELLS],
    );
    return () => world.sql(FIRST, `ALTER TABLE ${entity} RENAME COLUMN altered TO body`);
  },
});

export const holeInLog = (datastore: string): AlarmCase => ({
  sections: ['log-hole'],
  fault: 'a row is gone from a log',
  fix: 'it is put back',
  async breaks(world) {
    const { row, shard } = await world.rowIn(FIRST, datastore);
    const cell = { row_key: row, column_name: 'BASE', ref_key: 1, body: { name: 'before' } };
    const { added_id } = Object(await world.of(datastore).put(cell)) as { readonly added_id: number };
    const insert = (after: number): Promise<void> =>
      world.sql(
        FIRST,
        `INSERT INTO \`${shardDatabase(datastore, shard)}\`.entity (added_id, row_key, column_name, ref_key, body, created_at) VALUES (?, UNHEX(?), 'BASE', ?, ?, SYSDATE(6))`,
        [added_id + after, row.replaceAll('-', ''), 1 + after, BODY],
      );
    await insert(2);
    return () => insert(1);
  },
});

export const restoredGroup = (group: string): AlarmCase => ({
  sections: ['log-cut'],
  fault: 'a group is restored to before cells that were sent',
  fix: 'none: followers go back by themselves',
  async breaks(world) {
    const { row } = await world.rowIn(group, 'work');
    // A buffered one would be in no log yet.
    const put = (refKey: number): Promise<unknown> =>
      world.insist(async () => {
        const cell = { row_key: row, column_name: 'CUT', ref_key: refKey, body: { name: 'sent' } };
        const { outcome } = await world.of('work').put(cell);
        if (outcome === 'buffered') throw new Error('wanted it to be stored, got buffered');
      });
    const untilSent = (): Promise<void> =>
      world.insist(async () => {
        const { sent } = await world.of('work').getTrigger({ trigger: 'cut' });
        if (sent.cells !== 0) throw new Error(`wanted all to be sent, got ${JSON.stringify(sent)}`);
      });
    await put(1);
    await untilSent();
    // Another group may just be unavailable.
    await world.insist(() => world.local('snapshot', 'before'));
    for (const refKey of [2, 3, 4]) await put(refKey);
    await untilSent();
    await world.local('restore-group', `${group} before force`);
    return async () => undefined;
  },
});

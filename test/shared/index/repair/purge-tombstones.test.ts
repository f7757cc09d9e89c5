import { expect, it } from 'vitest';
import { dueTimes } from '../../../../shared/index/repair/due-times.ts';
import { purgeTombstones } from '../../../../shared/index/repair/purge-tombstones.ts';
import type { RepairWork } from '../../../../shared/index/repair/repair-work.ts';
import { sharedTable } from '../../../support/shared-table.ts';

const SHARDS = 100;
/** The number of tables that a run reaches before it ends. */
const TABLES_A_RUN = 30;

it('reaches every table, also where asking them all outlasts the minute of a run', async () => {
  const due = dueTimes(await sharedTable(), 'trips');
  const asked = new Set<string>();
  const run = async (): Promise<void> => {
    const ending = new AbortController();
    let left = TABLES_A_RUN;
    const change = async ({ sql }: { readonly sql: string }) => {
      asked.add(sql);
      left -= 1;
      if (left === 0) ending.abort();
      return { affectedRows: 0 };
    };
    const homes = Array.from({ length: SHARDS }, () => ({ group: 'group-1', epoch: 1 }));
    const work = {
      datastore: 'trips',
      settings: { tombstoneAgeMs: 1 },
      context: {
        topology: { datastore: async () => ({ datastore: 'trips', shards: SHARDS, homes }) },
        groups: { client: async () => ({ change }) },
      },
      indexes: { maintained: async () => [{ name: 'drivers', hash: '0123abcd' }] },
    } as unknown as RepairWork;
    await purgeTombstones(work, due, ending.signal);
  };
  for (let runs = 0; runs < 3; runs += 1) await run();
  expect([asked.size, await due.isDue('purge')]).toEqual([90, true]);
  await run();
  expect([asked.size, await due.isDue('purge')]).toEqual([100, false]);
});

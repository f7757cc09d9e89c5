import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { NewCell } from '../../shared/cell.ts';
import { referenceStore } from '../support/reference-store.ts';
import { measureFailover, type FailoverWays } from './failover.ts';
import type { Section } from './page.ts';

const PUTS = 60;
const LOAD = {
  load: async (send: () => void): Promise<void> => {
    for (let puts = 0; puts < PUTS; puts += 1) {
      send();
      await turn();
    }
  },
  breakAfter: 20,
  patienceMs: -1,
};

/** Measures a store that refuses ten puts from the failover on, and buffers the next ten, of which it loses some. */
async function measured(lost: number, failOver: () => Promise<void> = async () => undefined) {
  const store = referenceStore('smoke', 4);
  let puts = 0;
  const client = {
    async tryPut(cell: NewCell) {
      puts += 1;
      const since = puts - LOAD.breakAfter;
      if (since > 0 && since <= 10) throw new Error('503');
      if (since <= 0 || since > 20) return store.put(cell);
      if (since - 10 > lost) await store.put(cell);
      return { outcome: 'buffered', shard: 0 };
    },
  };
  const ways = { once: client, patient: store, failOver } as unknown as FailoverWays;
  return measureFailover(ways, LOAD).catch((error: unknown) => {
    throw Object.assign(Object(error), { puts });
  });
}

const resultOf = ({ results }: Section, what: string): string =>
  results.find((one) => one.what.startsWith(what))?.result ?? 'none';

test('a failover is described by the answers during it, and by how long not all was stored', async () => {
  const section = await measured(0);
  expect(resultOf(section, 'buffered')).toMatch(/ ms of 10$/u);
  expect(resultOf(section, 'not confirmed')).toMatch(/ ms of 10$/u);
  expect(resultOf(section, 'from the first put')).toMatch(/^\d+\.\d s$/u);
  expect(section).not.toHaveProperty('failure');
});

test('an acknowledged cell that is missing is counted as lost', async () => {
  const section = await measured(1);
  expect(section).toMatchObject({ failure: 'acknowledged cells: 1 lost, 0 unreadable' });
  expect(resultOf(section, 'acknowledged cells')).toMatch(/^1 of 50$/u);
});

test('a failover that fails ends the load', async () => {
  const failed = measured(0, async () => {
    throw new Error('no right');
  });
  await expect(failed).rejects.toMatchObject({ message: 'no right', puts: LOAD.breakAfter + 1 });
});

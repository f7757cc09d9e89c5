import { expect, test } from 'vitest';
import type { NewCell } from '../../shared/cell.ts';
import { referenceStore } from '../../shared/store/reference-store.ts';
import { measureFailover, type FailoverWays, type MeasuredFailover } from './failover.ts';
import type { Section } from './figure.ts';

const LOAD = { perSecond: 100, milliseconds: 600, breakAtMs: 200, patienceMs: 300 };

/** A store that refuses, then buffers, from the failover on, for a moment each; of what it buffers one cell is lost. */
async function measured(lost: number): Promise<MeasuredFailover> {
  const store = referenceStore('smoke', 4);
  let brokenAt = Infinity;
  let left = lost;
  const client = {
    async put(cell: NewCell) {
      const since = performance.now() - brokenAt;
      if (since > 0 && since < 100) throw new Error('503');
      if (!(since > 0 && since < 200)) return store.put(cell);
      if (left > 0) left -= 1;
      else await store.put(cell);
      return { outcome: 'buffered', shard: 0 };
    },
  };
  const failOver = async (): Promise<void> => {
    brokenAt = performance.now();
  };
  return measureFailover({ once: client as unknown as FailoverWays['once'], patient: store, failOver }, LOAD);
}

const figureOf = ({ figures }: Section, what: string): string =>
  figures.find((one) => one.what.startsWith(what))?.figure ?? 'none';

test('a failover is told by what was answered meanwhile, and for how long not all was stored', async () => {
  const section = await measured(0);
  expect(figureOf(section, 'buffered')).toMatch(/ ms of \d+$/u);
  expect(figureOf(section, 'not confirmed')).toMatch(/ ms of \d+$/u);
  expect(figureOf(section, 'from the first put')).toMatch(/^0\.[1-3] s$/u);
  expect(section).toMatchObject({ lost: 0 });
});

test('a cell that was acknowledged and is not there is counted as lost', async () => {
  const section = await measured(1);
  expect(section).toMatchObject({ lost: 1 });
  expect(figureOf(section, 'acknowledged cells')).toMatch(/^1 of /u);
});

test('a failover that cannot be brought about ends the load', async () => {
  const store = referenceStore('smoke', 4);
  let puts = 0;
  const once = { put: (cell: NewCell) => ((puts += 1), store.put(cell)) };
  const failOver = async (): Promise<void> => {
    throw new Error('no right');
  };
  await expect(
    measureFailover({ once: once as unknown as FailoverWays['once'], patient: store, failOver }, LOAD),
  ).rejects.toThrow('no right');
  expect(puts).toBeLessThan(40);
});

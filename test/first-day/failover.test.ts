import { expect, test } from 'vitest';
import type { NewCell } from '../../shared/cell.ts';
import { referenceStore } from '../../shared/store/reference-store.ts';
import { measureFailover } from './failover.ts';
import type { Section } from './figure.ts';

const LOAD = { perSecond: 100, milliseconds: 600, breakAtMs: 200, patienceMs: 300 };

/** A store that refuses, then buffers, from the failover on, for a moment each; of what it buffers one cell is lost. */
async function measured(lost: number): Promise<Section> {
  const store = referenceStore('smoke', 4);
  let brokenAt = Infinity;
  let left = lost;
  const client = {
    get: store.get,
    async put(cell: NewCell) {
      const since = performance.now() - brokenAt;
      if (since > 0 && since < 100) throw new Error('503');
      if (!(since > 0 && since < 200)) return store.put(cell);
      if (left > 0) left -= 1;
      else await store.put(cell);
      return { outcome: 'buffered', shard: 0 };
    },
  };
  return measureFailover(
    client as unknown as Parameters<typeof measureFailover>[0],
    async () => {
      brokenAt = performance.now();
    },
    LOAD,
  );
}

const figureOf = ({ figures }: Section, what: string): string =>
  figures.find((one) => one.what.startsWith(what))?.figure ?? 'none';

test('a failover is told by what was answered meanwhile, and for how long not all was stored', async () => {
  const section = await measured(0);
  expect(figureOf(section, 'buffered')).toMatch(/ ms of \d+$/u);
  expect(figureOf(section, 'not confirmed')).toMatch(/ ms of \d+$/u);
  expect(figureOf(section, 'not all puts')).toMatch(/^0\.[1-3] s$/u);
  expect(figureOf(section, 'acknowledged cells')).toMatch(/^0 of /u);
});

test('a cell that was acknowledged and cannot be read is counted as lost', async () => {
  expect(figureOf(await measured(1), 'acknowledged cells')).toMatch(/^1 of /u);
});

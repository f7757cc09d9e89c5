import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { IndexDefinition } from '../../../../shared/definitions/definitions.ts';
import { committedOffsets } from '../../../../shared/follow/follower-lag.ts';
import type { Condition } from '../../../../shared/contract/index-query.ts';
import { errorOf } from '../../../support/datastore-conformance.ts';
import { eq, indexOn } from '../../../support/index-on.ts';
import { until } from '../../../support/until.ts';
import { DRIVERS, sharedIndexed } from './support/indexed-store.ts';
import { startRepairProcess } from './support/start-repair-process.ts';

const SHARDS = 16;
/**
 * By the repair's own settings; about seven seconds where the machine has little else to do, and a minute where the
 * cached topology decides.
 */
const WITHIN_MS = 45_000;
const CHANGED: IndexDefinition = {
  ...DRIVERS,
  fields: [...DRIVERS.fields, { field: 'riders', type: 'integer', column_key: 'BASE' }],
};
const CITIES = indexOn('cities', { city: 'string' });

const indexed = await sharedIndexed(SHARDS);
const instance = indexed.store.open();
afterAll(() => instance.close());
/** As an instance sees it that has cached, a moment before, what is going to change. */
const trips = await instance.datastore(indexed.datastore);

const driver = randomUUID();
const ask = (...where: Condition[]) => trips.query({ index: 'drivers', where: [eq('driver', driver), ...where] });
const byRiders = (riders: number): Condition => eq('riders', riders);
const inCity = () => trips.query({ index: 'cities', where: [eq('city', 'Porto')] });

describe('a changed definition, of a small index', () => {
  it(`answers within ${WITHIN_MS / 1000} s, also after a run that was killed, and its state is right until then and from then on`, async () => {
    const rows = [1, 2, 3, 4].map((riders) => ({ row_key: randomUUID(), body: { driver, city: 'Porto', riders } }));
    await indexed.write(rows);
    const killed = startRepairProcess(indexed);
    const offsets = () =>
      committedOffsets(indexed.stateTable, { name: 'repair', datastore: indexed.datastore }, SHARDS);
    await until(
      'it follows, and holds the lease of the chores',
      async () =>
        killed.lines.some((line) => line.includes('"lag"')) &&
        (await offsets()).every((offset) => offset !== undefined),
    );
    expect((await ask()).entries).toHaveLength(4);
    expect(await trips.index('drivers')).toMatchObject({ state: 'live', progress: null });
    await killed.kill();

    await indexed.deploy([CHANGED, CITIES]);
    // At once, whatever is cached.
    expect(await trips.index('drivers')).toMatchObject({ state: 'changing' });
    expect((await trips.indexes()).map(({ index, state }) => [index, state])).toEqual([
      ['cities', 'building'],
      ['drivers', 'changing'],
    ]);
    expect((await ask()).entries).toHaveLength(4);
    const building = await errorOf(() => ask(byRiders(2)));
    expect(building).toMatchObject({
      code: 'index_building',
      status: 503,
      retry: 'later',
      details: { more: { index: 'drivers', progress: null } },
    });
    expect(await errorOf(inCity)).toMatchObject({ code: 'index_building' });
    expect(await errorOf(() => ask(eq('rider', 1)))).toMatchObject({
      code: 'unknown_field',
    });
    expect(await errorOf(() => ask(eq('riders', 'two')))).toMatchObject({
      status: 400,
    });

    const next = startRepairProcess(indexed);
    const seen: string[] = [];
    try {
      await until('it has begun', () => next.lines.length > 0);
      const begun = performance.now();
      await until('it answers', async () => {
        const { state, progress } = await trips.index('drivers');
        const now = `${state} ${progress ? `${progress.done} of ${progress.total}` : 'unknown'}`;
        if (seen.at(-1) !== now) seen.push(now);
        const { entries, code } = await ask(byRiders(2)).then(
          (answer) => ({ ...answer, code: '' }),
          (error: { readonly code: string }) => ({ entries: [], code: error.code }),
        );
        expect(['', 'index_building']).toContain(code);
        if (state === 'live') expect(entries.map(({ fields }) => fields['riders'])).toEqual([2]);
        return code === '';
      });
      expect(performance.now() - begun, seen.join(', ')).toBeLessThan(WITHIN_MS);
      // Built so soon that few looks, or none, find it under way.
      expect(
        seen.every((state) => /^(changing (unknown|\d of 4)|live unknown)$/u.test(state)),
        seen.join(', '),
      ).toBe(true);
      expect(await trips.index('drivers')).toMatchObject({ state: 'live', progress: null, fields: CHANGED.fields });
      await until(
        'the added index answers',
        async () => (await inCity().catch(() => undefined))?.entries.length === 4,
        { patienceMs: WITHIN_MS },
      );
      expect(await trips.index('cities')).toMatchObject({ state: 'live', progress: null });
    } finally {
      await next.stop();
    }
  });
});

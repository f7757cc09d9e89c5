import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, expect, it } from 'vitest';
import type { Where } from '../../../../shared/where.ts';
import type { IndexDefinition } from '../../../../shared/definitions/definitions.ts';
import { errorOf } from '../../../support/datastore-conformance.ts';
import { indexOn } from '../../../support/index-on.ts';
import { until } from '../../../support/until.ts';
import { DRIVERS, sharedIndexed } from './support/indexed-store.ts';

const CHANGED: IndexDefinition = {
  ...DRIVERS,
  fields: [...DRIVERS.fields, { field: 'riders', type: 'integer', column_key: 'BASE' }],
};
const CITIES = indexOn('cities', { city: 'string' });

const indexed = await sharedIndexed(16);
const instance = indexed.store.open();
afterAll(() => instance.close());
/** As an instance sees it that has cached, a moment before, what is going to change. */
const trips = await instance.datastore(indexed.datastore);

const driver = randomUUID();
const ask = (where: Where = {}) => trips.query({ index: 'drivers', where: { driver, ...where } });
const ofTwo = () => ask({ riders: 2 });
const inCity = () => trips.query({ index: 'cities', where: { city: 'Porto' } });
const never = (): Promise<never> => new Promise(() => undefined);

/** A run whose process stops at a moment: it gives no lease up, and says nothing more. */
function killable() {
  let isDead = false;
  const { client, table } = indexed.stateTable;
  const send = (...given: unknown[]) =>
    isDead ? never() : (client.send as (...given: unknown[]) => unknown)(...given);
  const run = indexed.repair({
    stateTable: { client: Object.assign(Object.create(client), { send }) as DynamoDBClient, table },
    wrap: (through) => ({ ...through, select: (...given) => (isDead ? never() : through.select(...given)) }),
  });
  return { events: run.events, kill: () => void (isDead = true) };
}

it('a changed definition answers once its index is live, also after a run that was killed, and its state is right', async () => {
  await indexed.write(
    [1, 2, 3, 4].map((riders) => ({ row_key: randomUUID(), body: { driver, city: 'Porto', riders } })),
  );
  const killed = killable();
  await indexed.followed();
  await until('it holds the lease of the chores', () => killed.events.some(({ kind }) => kind === 'lag'));
  expect((await ask()).entries).toHaveLength(4);
  expect(await trips.getIndex('drivers')).toMatchObject({ state: 'live', progress: null });
  killed.kill();

  await indexed.deploy([CHANGED, CITIES]);
  expect(await trips.getIndex('drivers')).toMatchObject({ state: 'changing' });
  expect((await trips.listIndexes()).indexes.map(({ index, state }) => [index, state])).toEqual([
    ['cities', 'building'],
    ['drivers', 'changing'],
  ]);
  expect((await ask()).entries).toHaveLength(4);
  expect(await errorOf(ofTwo)).toMatchObject({
    code: 'index_building',
    status: 503,
    retry: 'later',
    details: { more: { index: 'drivers', progress: null } },
  });
  expect(await errorOf(inCity)).toMatchObject({ code: 'index_building' });
  expect(await errorOf(() => ask({ rider: 1 }))).toMatchObject({ code: 'unknown_field' });
  expect(await errorOf(() => ask({ riders: 'two' }))).toMatchObject({ status: 400 });

  const next = indexed.repair();
  await until('it answers', async () => {
    const { state, progress } = await trips.getIndex('drivers');
    // Built so soon that few polls, or none, find it under way.
    expect(`${state} ${progress ? `${progress.done} of ${progress.total}` : 'unknown'}`).toMatch(
      /^(changing (unknown|\d of 4)|live unknown)$/u,
    );
    const answer = await ofTwo().catch((error: { readonly code: string }) => error);
    if ('code' in answer) expect([answer.code, state]).toEqual(['index_building', 'changing']);
    else expect(answer.entries.map(({ fields }) => fields['riders'])).toEqual([2]);
    return !('code' in answer);
  });
  expect(await trips.getIndex('drivers')).toMatchObject({ state: 'live', progress: null, fields: CHANGED.fields });
  await until('the added index answers', async () => (await inCity().catch(() => undefined))?.entries.length === 4);
  expect(await trips.getIndex('cities')).toMatchObject({ state: 'live', progress: null });
  await next.stop();
});

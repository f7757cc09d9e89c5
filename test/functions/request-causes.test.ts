import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { report } from '../../functions/environment/deployment.ts';
import { logger } from '../../functions/environment/log.ts';
import { rowsOfShard } from '../support/datastore-conformance.ts';
import { faults, type Faults } from '../support/faulty-client.ts';
import { openRealStore, type RealStore } from '../support/real-store.ts';
import { fakeDefinitions } from './support/fake-definitions.ts';
import { gateway } from './support/gateway.ts';

let store: RealStore;
let between: Faults;

beforeAll(async () => {
  between = faults();
  store = await openRealStore({
    datastores: { trips: 2 },
    wrap: (client, group) => between.wrap(client, group),
    report,
  });
});
afterAll(() => store.close());

it('what a request met on its way to the primary is logged with its id', async () => {
  const name = store.nameOf('trips');
  const homes = (await store.topology.datastore(name))?.homes ?? [];
  const ask = gateway({
    ...store.deployment,
    ...fakeDefinitions(),
    triggers: () => Promise.reject(new Error('not asked')),
    moves: () => Promise.reject(new Error('not asked')),
    erasures: () => Promise.reject(new Error('not asked')),
    subjects: () => Promise.reject(new Error('not asked')),
  });
  const written: unknown[] = [];
  vi.spyOn(logger, 'warn').mockImplementation((...[, about]) => void written.push(about));
  between.behaviours.set(homes[0]?.group ?? '', 'writer-down');
  const [row = ''] = rowsOfShard(0, 2, 1);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const { status } = await ask({
    method: 'PUT',
    path: `/v1/${name}/cells/${row}/BASE/1`,
    body: '1',
    headers: { 'x-request-id': 'order-18', traceparent },
  });
  expect(status).toBe(202);
  expect(written).toContainEqual(
    expect.objectContaining({
      request_id: 'order-18',
      traceparent,
      event: expect.objectContaining({ kind: 'primary_failed', group: homes[0]?.group }),
    }),
  );
});

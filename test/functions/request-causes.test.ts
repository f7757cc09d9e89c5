import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { report } from '../../functions/environment/deployment.ts';
import { logger } from '../../functions/environment/log.ts';
import { connectionTo } from '../support/connection-to.ts';
import { rowsOfShard } from '../support/datastore-conformance.ts';
import { decodedLog } from '../support/decoded-log.ts';
import { faults, type Faults } from '../support/faulty-client.ts';
import { openRealStore, type RealStore } from '../support/real-store.ts';
import { failingDeployment } from './support/fake-deployment.ts';
import { gateway } from './support/gateway.ts';
import { keepLogLines } from './support/log-lines.ts';

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

const askOf = (reached: RealStore['deployment']) =>
  gateway({ ...failingDeployment(new Error('not asked')), ...reached });

it('what a request met on its way to the primary is logged with its id', async () => {
  const name = store.nameOf('trips');
  const homes = (await store.topology.datastore(name))?.homes ?? [];
  const ask = askOf(store.deployment);
  const written: unknown[] = [];
  using _spy = vi.spyOn(logger, 'warn').mockImplementation((...[, about]) => void written.push(about));
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

describe('the log', () => {
  const { messages, text } = keepLogLines();

  it('has no body of a cell whose write a server refused', async () => {
    between.behaviours.clear();
    const name = store.nameOf('trips');
    const ask = askOf(store.deployment);
    const [row = ''] = rowsOfShard(1, 2, 1);
    const group = (await store.topology.datastore(name))?.homes[1]?.group;
    const holder = await connectionTo(group);
    try {
      await holder.query('START TRANSACTION');
      await holder.query('SELECT shard FROM schemaless.shard WHERE datastore = ? FOR UPDATE', [name]);
      const body = JSON.stringify({ name: 'Ann Example', notes: 'Ann Example '.repeat(20) });
      expect((await ask({ method: 'PUT', path: `/v1/${name}/cells/${row}/BASE/1`, body })).status).toBe(202);
      // The control: the driver's own error.
      const refused = holder.query('DO (SELECT 1 FROM schemaless.nowhere WHERE body = ?)', [Buffer.from(body)]);
      const kept = await refused.catch((error: unknown) => JSON.stringify({ ...Object(error) }));
      expect(decodedLog(String(kept))).toContain('Ann Example');
    } finally {
      await holder.end();
    }
    expect(messages()).toContainEqual(
      expect.objectContaining({ event: expect.objectContaining({ kind: 'primary_failed', group }) }),
    );
    expect(text()).toContain('1205');
    const told = decodedLog(text());
    expect(['Ann Example', 'INSERT INTO'].filter((secret) => told.includes(secret))).toEqual([]);
  });
});

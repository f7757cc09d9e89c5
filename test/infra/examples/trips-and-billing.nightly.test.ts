import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TriggerHandler } from '@schemaless-store/schemaless/triggers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../../../shared/client/api-client.ts';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import { freePort } from '../../support/free-port.ts';
import { localStack } from '../../support/local-stack.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { installedExample } from './support/installed-example.ts';

const folder = temporaryFolder();
const { project, example, run, shown } = installedExample('trips-and-billing', folder);
/** As a user does it: the card service of the project is elsewhere. */
beforeAll(async () => {
  const file = join(example, 'cards.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace('4242', String(await freePort())));
});
const stack = localStack(folder, {
  datastores: join(example, 'datastores'),
  projectFolder: project,
  // One log, so that what is behind a cell is done after it.
  shards: 1,
});
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

const SOON = { timeout: 120_000 };

/** A call that a busy machine cut off comes again, and so does its charge, which is none. */
const withoutRepeats = (lines: readonly string[]) => lines.filter((line) => !line.includes('charged before'));

interface Modules {
  readonly handler: TriggerHandler;
  startCardService(say: (line: string) => void): Promise<Server>;
}

async function load(): Promise<Modules> {
  const [{ handler }, { startCardService }] = await Promise.all([
    import(join(example, 'bill-rider.ts')),
    import(join(example, 'card-service.ts')),
  ]);
  return { handler, startCardService };
}

async function putTrip(client: SchemalessClient, fare_cents: number): Promise<string> {
  const row_key = randomUUID();
  const uuids = { rider_uuid: randomUUID(), driver_uuid: randomUUID() };
  const body = { ...uuids, city: 'Porto', began_at: '2026-07-02T10:00:00Z', fare_cents };
  await client.put({ row_key, column_name: 'BASE', ref_key: 1, body });
  await client.put({ row_key, column_name: 'STATUS', ref_key: 2, body: { state: 'completed' } });
  return row_key;
}

it('each rider is billed once, whatever comes twice, late, out of order, or stops half way', async () => {
  const printed = await run('drive.ts', stack().url);
  expect(withoutRepeats(printed.split('\n'))).toEqual(shown().split('\n'));

  const trips = { url: stack().url, datastore: 'trips' };
  const [client, api] = [schemalessClient(trips), apiClient(trips)];
  const trigger = 'bill_rider';
  const { handler, startCardService } = await load();
  const charges: string[] = [];
  servers.push(await startCardService((line) => charges.push(line)));
  const billed = async (row_key: string) => (await client.getLatest({ row_key, column_name: 'BILL' })).cell?.body;

  // The function is not called during a pause: its tailer checks every second whether it may send.
  await api.pauseTrigger({ trigger });
  // Clock: nothing says that its consumers have heard of it; a call of theirs would charge a trip of the test.
  await sleep(5000);
  const row_key = await putTrip(client, 700);
  const call = (put: SchemalessClient['put']) =>
    handler.fn(
      row_key,
      {} as never,
      { ...client, put },
      {
        signal: new AbortController().signal,
        attempt: 1,
      },
    );
  const stopped = async () => {
    throw new Error('stopped');
  };
  await expect(call(stopped)).rejects.toThrow('the card service answered 503: out of order');
  // Between the charge and its proof.
  await expect(call(stopped)).rejects.toThrow('stopped');
  expect(await billed(row_key)).toBeUndefined();
  await call(client.put);
  expect(await billed(row_key)).toEqual({ receipt: 'receipt 1', cents: 700 });
  expect(charges.splice(0)).toEqual([
    'card service: out of order',
    'card service: charged, receipt 1, 700 cents',
    'card service: charged before, receipt 1, 700 cents',
  ]);

  // Everything again: of all trips, only the new one is charged.
  await api.rewindTrigger({ trigger, to: 'start' });
  const last = await putTrip(client, 800);
  await api.resumeTrigger({ trigger });
  await expect.poll(() => billed(last), SOON).toEqual({ receipt: 'receipt 2', cents: 800 });
  expect(withoutRepeats(charges)).toEqual(['card service: charged, receipt 2, 800 cents']);
  expect((await api.getTrigger({ trigger })).parked).toBe(0);
}, 300_000);

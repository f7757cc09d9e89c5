import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as echo } from '../../functions/smoke-echo.ts';
import type { TriggerFunction, TriggerHandler, TriggerMessage } from '../../functions/triggers/trigger-handler.ts';
import type { Json } from '../../shared/cell.ts';
import type { SchemalessClient } from '../../shared/client/client.ts';
import { referenceStore } from '../support/reference-store.ts';
import { confirming } from '../support/store-of.ts';
import { temporaryFolder } from '../infra/support/temporary-folder.ts';
import { fakeDeployment } from './support/fake-deployment.ts';
import { serveGateway } from './support/gateway.ts';

const trips = referenceStore('trips', 4);
const client = confirming(trips) as unknown as SchemalessClient;

/** Writes a cell and gives the message that its trigger would get. */
async function written(body: Json, column_name = 'BASE'): Promise<TriggerMessage> {
  const address = { row_key: randomUUID(), column_name, ref_key: 1 };
  await trips.put({ ...address, body });
  const { cell } = await trips.get(address);
  if (!cell) throw new Error('the cell is not there');
  const { shard, added_id, created_at } = cell;
  return { datastore: 'trips', trigger: 'feed', shard, added_id, ...address, created_at, replay: false, generation: 0 };
}

function call(fn: TriggerFunction, message: TriggerMessage, schemaless = client): Promise<unknown> {
  return Promise.resolve(
    fn(message.row_key, message, schemaless, { signal: new AbortController().signal, attempt: 1 }),
  );
}

let loads = 0;

/** A function as it is loaded, with the environment that there is. */
async function load(file: 'copy-cells' | 'feed-warehouse'): Promise<TriggerFunction> {
  loads += 1;
  // Another module each time. To reset all modules would load them again for every file of this worker.
  const module = `${import.meta.dirname}/../../functions/examples/${file}.ts?${loads}`;
  const { handler } = (await import(module)) as { readonly handler: TriggerHandler };
  return handler.fn;
}

afterEach(() => vi.unstubAllEnvs());

describe('feed_warehouse', () => {
  it('appends every cell as a line of its day, with its place in the log and its body as it is', async () => {
    using folder = temporaryFolder();
    vi.stubEnv('WAREHOUSE_FOLDER', folder.path);
    const messages = [
      await written({ text: 'zwei\nZeilen 👍' }),
      await written(2n ** 63n, 'a/../b'),
      await written(null),
    ];
    const feedWarehouse = await load('feed-warehouse');
    for (const message of messages) await call(feedWarehouse, message);
    const day = messages[0]?.created_at.slice(0, 10);
    expect(readdirSync(folder.path)).toEqual([`${day}.ndjson`]);
    const lines = readFileSync(`${folder.path}/${day}.ndjson`, 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    const {
      datastore: _datastore,
      trigger: _trigger,
      replay: _replay,
      generation: _generation,
      ...cell
    } = Object(messages[0]);
    expect(JSON.parse(lines[0] ?? '')).toEqual({ ...cell, body: { text: 'zwei\nZeilen 👍' } });
    expect(lines[1]).toContain('"column_name":"a/../b"');
    expect(lines[1]).toContain('"body":9223372036854775808');
  });

  it('fails, to be called again, where the cell cannot be read', async () => {
    const message = await written({});
    vi.stubEnv('WAREHOUSE_FOLDER', '/tmp/never-made');
    const behind: SchemalessClient = { ...client, get: async () => ({ cell: null, served_by: 'reader', stale: true }) };
    await expect(call(await load('feed-warehouse'), message, behind)).rejects.toThrow('cannot be read yet');
  });
});

describe('copy_cells', () => {
  const copy = fakeDeployment();
  const outcomes: string[] = [];
  let server: Awaited<ReturnType<typeof serveGateway>>;
  let copyCells: TriggerFunction;

  beforeAll(async () => {
    server = await serveGateway(copy, (method, status) => outcomes.push(`${method} ${status}`));
  });
  beforeEach(async () => {
    vi.stubEnv('COPY_TO_URL', server.url);
    copyCells = await load('copy-cells');
  });
  afterAll(() => server.close());

  it('writes every cell to the same address of the other deployment, and may be called again', async () => {
    const message = await written({ city: 'Lisbon' }, 'FARE ADJUSTMENT');
    await call(copyCells, message);
    await call(copyCells, message);
    const { row_key, column_name, ref_key } = message;
    expect((await copy.trips.get({ row_key, column_name, ref_key })).cell).toMatchObject({
      row_key,
      column_name,
      ref_key,
      body: { city: 'Lisbon' },
    });
    expect(outcomes).toEqual(['PUT 201', 'PUT 200']);
  });

  it('parks a cell at once that the other deployment has with another body', async () => {
    const message = await written({ city: 'Porto' });
    const { row_key, column_name, ref_key } = message;
    await copy.trips.put({ row_key, column_name, ref_key, body: { city: 'Faro' } });
    await expect(call(copyCells, message)).rejects.toThrow(expect.objectContaining({ name: 'PermanentFailure' }));
    expect((await copy.trips.get({ row_key, column_name, ref_key })).cell?.body).toEqual({ city: 'Faro' });
  });

  it('leaves out what was erased', async () => {
    const message = await written({});
    const erased: SchemalessClient = {
      ...client,
      get: async (address) => ({
        cell: { ...address, body: null, erased: true, added_id: 1, shard: 0, created_at: message.created_at },
        served_by: 'writer',
        stale: false,
      }),
    };
    await call(copyCells, message, erased);
    const { row_key, column_name, ref_key } = message;
    expect((await copy.trips.get({ row_key, column_name, ref_key })).cell).toBeNull();
  });
});

describe('echo', () => {
  it('answers a CALL with an ECHO of its body, and may be called again', async () => {
    const message = await written({ output: 'something' }, 'CALL');
    await call(echo.fn, message);
    await call(echo.fn, message);
    const { row_key, ref_key } = message;
    expect((await trips.row(row_key, { columns: ['ECHO'] })).cells).toMatchObject([
      { row_key, ref_key, body: { output: 'something' } },
    ]);
  });

  it('fails, to be called again, while the CALL cannot be read', async () => {
    const message = await written('a', 'CALL');
    await expect(call(echo.fn, { ...message, ref_key: 2 })).rejects.toThrow('cannot be read yet');
  });

  it('fails if another writer has written the ECHO', async () => {
    const message = await written('a', 'CALL');
    const { row_key, ref_key } = message;
    await trips.put({ row_key, column_name: 'ECHO', ref_key, body: 'b' });
    await expect(call(echo.fn, message)).rejects.toMatchObject({ code: 'conflict' });
  });
});

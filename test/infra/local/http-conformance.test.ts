import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startLocalStack, type LocalStack } from '../../../infra/local/local-stack.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { cellOf, describeDatastore, type Subject } from '../../support/datastore-conformance.ts';
import { describeIndexes, SUITE_INDEXES } from '../../support/index-conformance.ts';

/** The whole system: synthesized, bundled, run on servers of its own. */
let stack: LocalStack;
let data: string;
const DATASTORES = join(import.meta.dirname, '../../support/datastores');

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'schemaless-http-'));
  stack = await startLocalStack({
    port: 0,
    data,
    shards: 16,
    engine: inject('servers').engine.kind,
    access: inject('servers').access,
    datastores: DATASTORES,
  });
});

afterAll(async () => {
  await stack?.stop();
  await rm(data, { recursive: true, force: true });
});

function open(): Subject {
  const datastore = (name: string, shards: number) => ({ ...schemalessClient({ url: stack.url, datastore: name }), shards });
  return { first: datastore('trips', 16), second: datastore('smoke', 7) };
}

describeDatastore('through HTTP', async () => open());
describeIndexes('through HTTP', async () => open().first);

it('the suite runs against the indexes that it is about', () => {
  const trips = loadDefinitions(DATASTORES).datastores.find(({ name }) => name === 'trips');
  expect(trips?.indexes.map(({ name }) => name).sort()).toEqual(SUITE_INDEXES.map(({ name }) => name).sort());
  for (const index of SUITE_INDEXES) expect(trips?.indexes.find(({ name }) => name === index.name)).toEqual(index);
});

describe('the local stack', () => {
  it('empties the buffer within seconds in normal running', async () => {
    const { first } = open();
    await first.batchPut(Array.from({ length: 100 }, () => cellOf()));
    const buffer = schemalessClient({ url: stack.url, datastore: 'trips' });
    await expect.poll(async () => (await buffer.buffer()).map((group) => (group.error ? group.error.message : group.rows)), { timeout: 15_000, interval: 250 }).toEqual([0, 0, 0]);
  });

  it('goes on writing while a primary is down, and appends what was buffered when it is back', async () => {
    const { first } = open();
    const cells = Array.from({ length: 40 }, () => cellOf({ row_key: randomUUID() }));
    await stack.groups.kill('group-1-a');
    const results = await first.batchPut(cells);
    const outcomes = new Set(results.map(({ outcome }) => outcome));
    expect([...outcomes].sort()).toEqual(['buffered', 'stored']);
    await expect
      .poll(async () => (await first.batchGet(cells)).map((item) => item && ('body' in item ? item.body : item.error.code)), { timeout: 15_000, interval: 500 })
      .toEqual(cells.map(({ body }) => body));
  });
});

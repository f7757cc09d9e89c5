import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { startLocalStack, type LocalStack } from '../../../infra/local/local-stack.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { cellOf, describeDatastore, type Subject } from '../../support/datastore-conformance.ts';
import { describeIndexes, SUITE_INDEXES } from '../../support/index-conformance.ts';

/** The whole system: synthesized, bundled, run on servers of its own. */
let stack: LocalStack;
let folder: string;
const SMOKE = join(PROJECT_ROOT, 'infra/datastores/smoke');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'schemaless-http-'));
  const datastores = join(folder, 'datastores');
  await cp(SMOKE, join(datastores, 'smoke'), { recursive: true });
  // Another shard count than the first: datastores of one deployment are independent.
  await mkdir(join(datastores, 'second'));
  await writeFile(join(datastores, 'second/datastore.yaml'), 'datastore: second\nshards: 7\n');
  stack = await startLocalStack({ port: 0, data: join(folder, 'data'), engine: inject('servers').engine.kind, access: inject('servers').access, datastores });
});

afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

function open(): Subject {
  const datastore = (name: string, shards: number) => ({ ...schemalessClient({ url: stack.url, datastore: name }), shards });
  return { first: datastore('smoke', 16), second: datastore('second', 7) };
}

describeDatastore('through HTTP', async () => open());
describeIndexes('through HTTP', async () => open().first);

it('the suite runs against the indexes that it is about', () => {
  const smoke = loadDefinitions(dirname(SMOKE)).datastores.find(({ name }) => name === 'smoke');
  expect(smoke?.indexes.map(({ name }) => name).sort()).toEqual(SUITE_INDEXES.map(({ name }) => name).sort());
  for (const index of SUITE_INDEXES) expect(smoke?.indexes.find(({ name }) => name === index.name)).toEqual(index);
});

describe('the local stack', () => {
  it('empties the buffer within seconds in normal running', async () => {
    const { first } = open();
    await first.batchPut(Array.from({ length: 100 }, () => cellOf()));
    const buffer = schemalessClient({ url: stack.url, datastore: 'smoke' });
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

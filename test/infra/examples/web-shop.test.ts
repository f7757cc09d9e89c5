import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { consumerEnvironment } from '../../../infra/local/commands/consumer-environment.ts';
import { startLocalStack } from '../../../infra/local/stack/local-stack.ts';
import type { LocalStack } from '../../../infra/local/stack/running-stack.ts';
import { schemalessClient, type SchemalessClient } from '../../../shared/client/client.ts';
import { MANIFEST, pack, tsc, unpack } from '../package/packed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const EXAMPLE = join(PROJECT_ROOT, 'infra/examples/web-shop');
const folder = temporaryFolder();
const app = join(folder.path, 'app');
const consumers: ChildProcess[] = [];
const { engine, access } = inject('servers');
let stack: LocalStack;
let client: SchemalessClient;

beforeAll(async () => {
  const { dependencies, peerDependencies } = MANIFEST;
  unpack(await pack(folder.path), app, [
    ...Object.keys({ ...dependencies, ...peerDependencies }),
    '@types/node',
    'zod',
  ]);
  cpSync(EXAMPLE, app, { recursive: true });
  stack = await startLocalStack({
    port: 0,
    data: join(folder.path, 'data'),
    datastores: join(EXAMPLE, 'datastores'),
    groups: 1,
    readers: 0,
    shards: 4,
    engine: engine.kind,
    access,
  });
  client = schemalessClient({ url: stack.url, datastore: 'shop' });
});
afterAll(async () => {
  for (const consumer of consumers) consumer.kill('SIGKILL');
  await stack?.stop();
  folder[Symbol.dispose]();
});

function startConsumer(): ChildProcess {
  const environment = consumerEnvironment(stack.endpoints, 'shop');
  const consumer = spawn(process.execPath, ['confirm-orders.ts'], {
    cwd: app,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  consumers.push(consumer);
  return consumer;
}

interface Placed {
  readonly buyer: string;
  readonly orders: readonly string[];
  readonly totals: readonly number[];
}

async function placeOrders(): Promise<Placed> {
  const { stdout } = await promisify(execFile)(process.execPath, ['place-orders.ts', stack.url], { cwd: app });
  return JSON.parse(stdout);
}

/** The versions that were confirmed, of each order. */
function confirmed({ orders }: Placed): Promise<readonly (readonly number[])[]> {
  return Promise.all(
    orders.map(async (row_key) => {
      const { cells } = await client.versions({ row_key, column_name: 'CONFIRMATION' }, { order: 'asc' });
      return cells.map(({ ref_key }) => ref_key);
    }),
  );
}

it('a consumer that installed the package confirms each version of each order, killed and started again', async () => {
  const options = { module: 'nodenext', allowImportingTsExtensions: true, types: ['node'] };
  expect(tsc(app, { ...options, skipLibCheck: true })).toBe('');

  const first = startConsumer();
  const placed = [await placeOrders()];
  expect(placed[0]?.totals).toEqual([20, 30, 35]);
  await expect.poll(() => confirmed(placed[0] as Placed), { timeout: 60_000 }).toEqual([[1, 2], [1], [1]]);

  first.kill('SIGKILL');
  placed.push(await placeOrders(), await placeOrders());
  startConsumer();
  startConsumer();
  for (const one of placed.slice(1))
    await expect.poll(() => confirmed(one), { timeout: 90_000 }).toEqual([[1, 2], [1], [1]]);
});

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it, vi } from 'vitest';
import { consumerEnvironment } from '../../../infra/local/commands/consumer-environment.ts';
import { schemalessClient } from '../../../shared/client/client.ts';
import { wholeStack } from '../../support/whole-stack.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { installedExample } from './support/installed-example.ts';

vi.setConfig({ testTimeout: 900_000 });
/** Ends what hangs. */
const LONG = { timeout: 400_000 };

const { example } = installedExample('web-shop', folderOfTests());
const stack = wholeStack();
const consumers: ChildProcess[] = [];

afterAll(() => {
  for (const consumer of consumers) consumer.kill('SIGKILL');
});

function startConsumer(): ChildProcess {
  const environment = consumerEnvironment(stack().endpoints, 'shop');
  const consumer = spawn(process.execPath, ['confirm-orders.ts'], {
    cwd: example,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  consumers.push(consumer);
  return consumer;
}

const KILLER = fileURLToPath(new URL('support/kill-at.mjs', import.meta.url));

/** Places orders, and kills the program at a request or an answer. Returns whether it came that far. */
async function killedAt(at: number, buyer: string): Promise<boolean> {
  const env = { ...process.env, NODE_OPTIONS: `--import ${KILLER}`, KILL_AT: String(at) };
  const ended = promisify(execFile)(process.execPath, ['place-orders.ts', stack().url, buyer], { cwd: example, env });
  return ended.then(
    () => false,
    (error: unknown) => {
      if (Object(error).signal !== 'SIGKILL') throw error;
      return true;
    },
  );
}

interface Placed {
  readonly buyer: string;
  readonly orders: readonly string[];
  readonly totals: readonly number[];
}

async function placeOrders(buyer: string = randomUUID()): Promise<Placed> {
  const command = ['place-orders.ts', stack().url, buyer];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: example });
  return JSON.parse(stdout);
}

function confirmed({ orders }: Placed): Promise<readonly (readonly number[])[]> {
  const client = schemalessClient({ url: stack().url, datastore: 'shop' });
  return Promise.all(
    orders.map(async (row_key) => {
      const { cells } = await client.versions({ row_key, column_name: 'CONFIRMATION' }, { order: 'asc' });
      return cells.map(({ ref_key }) => ref_key);
    }),
  );
}

it('a consumer that installed the package confirms each version of each order, killed and started again', async () => {
  const first = startConsumer();
  const placed = [await placeOrders()];
  expect(placed[0]?.totals).toEqual([20, 30, 35]);
  await expect.poll(() => confirmed(placed[0] as Placed), LONG).toEqual([[1, 2], [1], [1]]);

  first.kill('SIGKILL');
  placed.push(await placeOrders(), await placeOrders());
  startConsumer();
  startConsumer();
  for (const one of placed.slice(1)) await expect.poll(() => confirmed(one), LONG).toEqual([[1, 2], [1], [1]]);
});

it('a program killed at each request and answer, and run again, loses and doubles no order', LONG, async () => {
  const client = schemalessClient({ url: stack().url, datastore: 'shop' });
  let kills = 0;
  for (const isAgain of [true, false]) {
    for (let at = 1; ; at += 1) {
      const buyer = randomUUID();
      if (!(await killedAt(at, buyer))) break;
      kills += 1;
      if (isAgain) await killedAt(at + 1, buyer);
      const { orders } = await placeOrders(buyer);
      const stored = orders.map(async (row_key) =>
        Promise.all(
          ['ORDER', 'OUTBOX'].map(async (column_name) =>
            (await client.versions({ row_key, column_name }, { order: 'asc' })).cells.map(({ ref_key }) => ref_key),
          ),
        ),
      );
      expect(await Promise.all(stored)).toEqual([[1, 2], [1], [1]].map((versions) => [versions, versions]));
    }
  }
  // Four transactions and a query, before and after each, in both rounds.
  expect(kills).toBeGreaterThanOrEqual(16);
});

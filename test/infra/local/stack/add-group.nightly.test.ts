import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { describe, expect, inject, it, vi } from 'vitest';
import { startLocalStack } from '../../../../infra/local/stack/local-stack.ts';
import { apiClient } from '../../../../shared/client/api-client.ts';
import { schemalessClient } from '../../../../shared/client/client.ts';
import { localStack } from '../../../support/local-stack.ts';
import { localCommand } from '../../support/local-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { writeFiles } from '../../support/write-files.ts';
import { ask, eventuallyValue } from '../mysql/with-shard-groups.ts';

/** A whole stack that gets more servers, on a machine that has other things to do. */
vi.setConfig({ testTimeout: 900_000 });
const SHARDS = 8;
const WRITERS = 4;
const folder = temporaryFolder();
const data = join(folder.path, 'data');
const datastores = join(folder.path, 'datastores');
writeFiles(datastores, { 'shop/datastore.yaml': `datastore: shop\nshards: ${SHARDS}\n` });
// With two, writes have no copies yet.
const stack = localStack(folder, { groups: 2, readers: 1, shards: SHARDS, datastores });
const local = localCommand(data);

const clientOf = (datastore: string, { url } = stack()) => schemalessClient({ url, datastore });
const names = (): readonly string[] => stack().groups.groups.map(({ name }) => name);
const pids = (): readonly number[] =>
  stack()
    .groups.status()
    .map(({ pid }) => pid);
const homesOf = async (datastore: string): Promise<readonly string[]> =>
  (await clientOf(datastore).heads()).map(({ group }) => String(group));

async function copiesOn(group: string): Promise<number> {
  const { groups } = await apiClient({ url: stack().url, datastore: 'shop' }).getBuffer();
  const found = groups.find((one) => one.group === group);
  return found && !('error' in found) ? found.rows : 0;
}

/** Writes rows and reads each back, again and again, while something else is done. Returns the rows. */
async function inUse(work: () => Promise<unknown>): Promise<readonly string[]> {
  const answers = new Set<string>();
  const rows: string[] = [];
  const over = new AbortController();
  // By itself, without a client that would repeat what was refused.
  const call = async (method: string, row: string): Promise<void> => {
    const body = method === 'PUT' ? { body: JSON.stringify({ row }) } : {};
    const answer = await fetch(`${stack().url}/v1/shop/cells/${row}/ORDER/1`, { method, ...body });
    const text = await answer.text();
    answers.add(`${method} ${answer.status}${answer.ok ? '' : ` ${text}`}`);
  };
  const use = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const row = randomUUID();
      await call('PUT', row);
      await call('GET', row);
      rows.push(row);
      await sleep(25); // Clock: lets the other work get on; nothing is judged by it.
    }
  };
  const using = Promise.all(Array.from({ length: WRITERS }, use));
  await Promise.all([using, work().finally(() => over.abort())]);
  expect([...answers].sort()).toEqual(['GET 200', 'PUT 201']);
  return rows;
}

/**
 * Adds a group by the command while the stack is used, until that holds copies, and sees that nothing else has changed.
 */
async function addInUse(group: string, count: number): Promise<void> {
  const [homes, before] = [await homesOf('shop'), pids()];
  const rows = await inUse(async () => {
    expect(await local('add-group')).toEqual({
      code: 0,
      text: `${group} is there, a writer and 1 reader: ${count} groups; no shard has moved\n`,
    });
    await expect.poll(() => copiesOn(group)).toBeGreaterThan(0);
  });
  expect(names().at(-1)).toBe(group);
  expect(await homesOf('shop')).toEqual(homes);
  expect(pids()).toEqual(expect.arrayContaining([...before]));
  const cells = rows.slice(-100).map((row_key) => ({ row_key, column_name: 'ORDER', ref_key: 1 }));
  expect(await clientOf('shop').batchGet(cells)).toMatchObject(cells);
}

describe('a stack that gets more groups while it is used', () => {
  it('copies writes with the third, by what is known of the writers then', async () => {
    await addInUse('group-3', 3);
    for (const group of stack().groups.groups) {
      const unknown = 'SELECT COUNT(*) AS count FROM schemaless.shard WHERE writer_id IS NULL';
      expect([group.name, await ask(group, group.writerEndpoint, unknown)]).toEqual([group.name, [{ count: 0 }]]);
    }
  });

  it('has copies on the fourth at once, replicated as those of the others', async () => {
    await addInUse('group-4', 4);
    const added = stack().groups.groups.at(-1);
    const reader = added?.nodes.find(({ role }) => role === 'reader');
    if (!added || !reader) throw new Error('wanted a reader of group-4');
    await eventuallyValue(added, reader, "SELECT COUNT(*) FROM schemaless.buffer WHERE datastore = 'none'", 0);
    expect((await local('status')).text).toMatch(/^group-4-b +reader +running/mu);
    expect(stack().endpoints.groups.map(({ name }) => name)).toEqual(names());
  });

  it('gives shards of what comes later to all of them', async () => {
    writeFiles(datastores, { 'later/datastore.yaml': `datastore: later\nshards: ${SHARDS}\n` });
    expect(await stack().takeOver()).toMatchObject({ definitions: ['datastore later added'] });
    expect(await homesOf('later')).toEqual(Array.from({ length: SHARDS }, (_, shard) => `group-${(shard % 4) + 1}`));
  });

  it('has them after its next start', async () => {
    const homes = await homesOf('shop');
    const row = randomUUID();
    await clientOf('shop').put({ row_key: row, column_name: 'ORDER', ref_key: 1, body: 1 });
    await stack().stop();
    const { engine, access } = inject('servers');
    const options = { port: 0, data, engine: engine.kind, access, readers: 1, shards: SHARDS, datastores };
    const again = await startLocalStack(options);
    try {
      expect(again.groups.groups.map(({ name }) => name)).toEqual(names());
      const shop = clientOf('shop', again);
      expect((await shop.heads()).map(({ group }) => group)).toEqual(homes);
      expect(await shop.get({ row_key: row, column_name: 'ORDER', ref_key: 1 })).toMatchObject({ cell: { body: 1 } });
    } finally {
      await again.stop();
    }
  });
});

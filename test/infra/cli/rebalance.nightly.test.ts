import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { schemalessClient } from '../../../shared/client/client.ts';
import { until } from '../../support/until.ts';
import { askWriter, wholeStack } from '../../support/whole-stack.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { linesOf, runCommand, type Running } from './run-command.ts';

/** The function that moves shards starts once a minute; synthesis, servers and functions take their time. */
vi.setConfig({ testTimeout: 900_000 });

const SHARDS = 6;
const folder = folderOfTests();
const stack = wholeStack();
const HERE = (): Running => ({ folder: folder.path, environment: { SCHEMALESS_URL: stack().url } });
const run = (...parameters: string[]) => runCommand([...parameters, '--datastore', 'leaving'], HERE());

describe('a group that is to go', () => {
  it('is emptied by a command while the store is used, and nothing on it names the datastore any more', async () => {
    const shop = schemalessClient({ url: stack().url, datastore: 'leaving' });
    const write = async (city: string) => {
      const cell = { row_key: randomUUID(), column_name: 'ORDER', ref_key: 1, body: { city } };
      // Buffered on a busy machine, and while a shard is switched: repeated until it is stored.
      await until('it is stored', async () => (await shop.put(cell)).outcome.startsWith('stored'));
      return cell;
    };
    const before = await Promise.all(Array.from({ length: 60 }, () => write('Rome')));
    const digests = await Promise.all(before.map((_, shard) => (shard < SHARDS ? shop.digest({ shard }) : undefined)));
    const over = new AbortController();
    const during: Awaited<ReturnType<typeof write>>[] = [];
    const writing = (async () => {
      while (!over.signal.aborted) during.push(await write('Oslo'));
    })();
    const drained = await run('rebalance', '--retire', 'group-3', '--yes', '--complete-after', '0');
    over.abort();
    await writing;
    expect(drained).toMatchObject({ code: 0 });
    expect(new Set((await shop.heads()).map(({ group }) => group))).toEqual(new Set(['group-1', 'group-2']));

    for (const [shard, digest] of digests.entries())
      if (digest) expect((await shop.digest({ shard, at: digest.at })).digest).toBe(digest.digest);
    for (const cell of [...before, ...during])
      expect(await shop.get(cell)).toMatchObject({ cell: { body: cell.body } });
    const found = await shop.query({ index: 'by_city', where: { city: 'Rome' }, limit: 1000 });
    expect(found.entries.map(({ row_key }) => row_key).sort()).toEqual(before.map(({ row_key }) => row_key).sort());

    await expect.poll(async () => linesOf(await run('move', 'list')), { timeout: 120_000, interval: 1000 }).toEqual([]);
    const tables = "SELECT COUNT(*) AS count FROM information_schema.tables WHERE table_schema LIKE 'leaving%'";
    expect(await askWriter(stack(), 'group-3', tables)).toEqual([{ count: 0 }]);
    const rows = "SELECT COUNT(*) AS count FROM schemaless.shard WHERE datastore = 'leaving'";
    expect(await askWriter(stack(), 'group-3', rows)).toEqual([{ count: 0 }]);
  });
});

describe('a datastore', () => {
  it('is cloned with its added ids and times, and called again there is nothing left to do', async () => {
    const clone = ['clone', '--from', stack().url, '--from-datastore', 'leaving', '--datastore', 'cloned'];
    const [shop, copied] = ['leaving', 'cloned'].map((datastore) => schemalessClient({ url: stack().url, datastore }));
    for (let time = 0; time < 2; time += 1) {
      const ran = await runCommand(clone, HERE());
      expect(ran).toMatchObject({ code: 0 });
      const lines = linesOf(ran) as { shard: number; at: number; digest: string }[];
      expect(lines.map(({ shard }) => shard)).toEqual([0, 1, 2, 3, 4, 5]);
      for (const { shard, at, digest } of lines) {
        expect(await shop?.digest({ shard })).toMatchObject({ at, digest });
        expect(await copied?.digest({ shard })).toMatchObject({ at, digest });
      }
    }
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneLog, OtherLog } from '../../../../infra/cli/commands/clone.ts';
import type { Datastore } from '../../../../shared/contract/datastore.ts';
import { rowsOfShard } from '../../../support/datastore-conformance.ts';
import { openRealStore, type RealStore } from '../../../support/real-store.ts';

const SHARDS = 2;
let store: RealStore;
let source: Datastore;
let target: Datastore;
let other: Datastore;

beforeAll(async () => {
  store = await openRealStore({ datastores: { source: SHARDS, target: SHARDS, other: SHARDS } });
  const open = (name: string) => store.deployment.datastore(store.nameOf(name));
  [source, target, other] = await Promise.all([open('source'), open('target'), open('other')]);
  for (let number = 0; number < 250; number += 1)
    await source.put({
      row_key: randomUUID(),
      column_name: 'BASE',
      ref_key: number,
      body: { number, note: 'n'.repeat(number) },
    });
});
afterAll(() => store.close());

const { signal } = new AbortController();

async function headOf(datastore: Datastore, shard: number): Promise<number> {
  const head = (await datastore.heads())[shard];
  if (!head || head.error) throw new Error('no head');
  return head.head;
}

it('a log is cloned with its added ids and times: its digest is the same', async () => {
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const to = await headOf(source, shard);
    const ended = await cloneLog({ source, target, signal }, { shard, to, at: 0 });
    expect(ended).toEqual({ at: to, digest: (await source.digest({ shard })).digest });
    expect((await target.digest({ shard })).digest).toBe(ended.digest);
  }
});

it('cells of a transaction are cloned together, although their pages and batches end within', async () => {
  const row_key = rowsOfShard(0, SHARDS, 1)[0] as string;
  const before = await headOf(source, 0);
  const first = await source.put({ row_key, column_name: 'BASE', ref_key: 0, body: 'x'.repeat(100_000) });
  const cells = Array.from({ length: 5 }, (_, ref_key) => ({
    column_name: 'ORDER',
    ref_key,
    body: 'x'.repeat(200_000),
  }));
  await source.transact({ row_key, cells });
  const paged: Pick<Datastore, 'log' | 'digest'> = {
    digest: source.digest,
    log: (locations, options) => source.log(locations, { ...options, limit: 5 }),
  };
  const at = await headOf(target, 0);
  const to = await headOf(source, 0);
  expect([at, first]).toMatchObject([before, { added_id: before + 1 }]);
  await cloneLog({ source: paged, target, signal }, { shard: 0, to, at });
  const placesIn = async (datastore: Datastore): Promise<readonly unknown[]> => {
    const [log] = await datastore.log([{ shard: 0, after: before }]);
    return log && 'cells' in log ? log.cells.map(({ transaction }) => transaction) : [];
  };
  expect(await placesIn(target)).toEqual([undefined, ...cells.map((_, position) => ({ size: 5, position }))]);
  expect(await placesIn(target)).toEqual(await placesIn(source));
});

it('a log that was cut off is gone on with, with what came since', async () => {
  const to = await headOf(source, 0);
  const end = new AbortController();
  const cut = await cloneLog(
    { source, target: other, signal: end.signal, tell: () => end.abort() },
    { shard: 0, to, at: 0 },
  );
  expect(cut.at).toBeGreaterThan(0);
  expect(cut.at).toBeLessThan(to);
  const whole = await cloneLog({ source, target: other, signal }, { shard: 0, to, at: cut.at });
  expect(whole.digest).toBe((await source.digest({ shard: 0 })).digest);
});

it('a shard that holds other cells, or gets some meanwhile, is refused', async () => {
  const to = await headOf(source, 1);
  let row = randomUUID();
  while ((await other.put({ row_key: row, column_name: 'BASE', ref_key: 1, body: 1 })).shard !== 1) row = randomUUID();
  const at = await headOf(other, 1);
  await expect(cloneLog({ source, target: other, signal }, { shard: 1, to, at })).rejects.toThrow(OtherLog);
  await expect(cloneLog({ source, target: other, signal }, { shard: 1, to, at: 0 })).rejects.toThrow(OtherLog);
});

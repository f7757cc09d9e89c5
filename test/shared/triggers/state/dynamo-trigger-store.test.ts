import { randomBytes } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import type { DynamoTable } from '../../../../shared/dynamo/table.ts';
import { triggerStore, type TriggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { changeItem, pack } from '../../../../shared/dynamo/change-item.ts';
import { forgetTrigger, malformedKey } from '../../../../shared/triggers/state/trigger-items.ts';
import { messageOf } from '../consume/support/stage.ts';
import { client, forEachTest, NAME, nextMoment } from './support/each-trigger.ts';

let table: DynamoTable;
let store: TriggerStore;
forEachTest((...made) => ([table, store] = made));

const keys = async (): Promise<string[]> =>
  ((await client.send(new ScanCommand({ TableName: table.table }))).Items ?? [])
    .map((item) => item['pk']?.S ?? '')
    .sort();

describe('the state of a trigger', () => {
  it('is running by default, and nothing is stored then', async () => {
    expect(await store.status()).toEqual({ state: 'running', troubled_blocks: [] });
    await store.succeeded(messageOf(1, 1));
    await store.mark(1, undefined);
    await store.retryFailed(messageOf(1, 1), 'no');
    expect(await keys()).toEqual([]);
  });

  it('says why and since when it does not run, until it is resumed', async () => {
    const before = new Date().toISOString();
    await store.setState('paused', 'the card service moves');
    const paused = await store.status();
    expect(paused).toMatchObject({ state: 'paused', reason: 'the card service moves' });
    expect(
      paused.changed_at !== undefined && paused.changed_at >= before && paused.changed_at <= new Date().toISOString(),
    ).toBe(true);
    await store.markRewound('2026-01-31T08:00:00.000000Z');
    await store.resume();
    const resumed = await store.status();
    expect(resumed).toMatchObject({ state: 'running', rewound_at: '2026-01-31T08:00:00.000000Z' });
    expect(resumed.reason).toBeUndefined();
  });

  it('says since when it does not run however often it is halted since', async () => {
    await store.setState('paused', 'the card service moves');
    const { changed_at } = await store.status();
    await nextMoment();
    await store.setState('paused');
    expect(await store.status()).toMatchObject({ state: 'paused', reason: 'the card service moves', changed_at });
    await store.setState('stopped', '100 cells are parked');
    expect(await store.status()).toMatchObject({ state: 'stopped', reason: '100 cells are parked', changed_at });
    await store.resume();
    await nextMoment();
    await store.setState('paused');
    expect((await store.status()).changed_at).not.toBe(changed_at);
  });

  it('is one for each trigger of each datastore', async () => {
    await store.setState('paused');
    await store.failed(messageOf(1, 1), 'no', false);
    for (const other of [
      { ...NAME, trigger: 'other' },
      { ...NAME, datastore: 'rides' },
    ]) {
      expect(await triggerStore(table, other).status()).toEqual({ state: 'running', troubled_blocks: [] });
      expect(await triggerStore(table, other).shards([1])).toEqual([]);
    }
  });
});

describe('cells that fail', () => {
  it('are counted one by one, with the last error', async () => {
    const message = messageOf(17, 5);
    expect(await store.failed(message, 'first', false)).toBe(1);
    expect(await store.failed(message, 'second', false)).toBe(2);
    expect(await store.failed(messageOf(17, 3), 'other', false)).toBe(1);
    expect(await store.troubled()).toEqual([17]);
    const [shard] = await store.shards([17]);
    expect(shard?.mark).toBeUndefined();
    expect(shard?.cells.map(({ message, attempts, last_error }) => [message.added_id, attempts, last_error])).toEqual([
      [3, 1, 'other'],
      [5, 2, 'second'],
    ]);
    expect(shard?.cells[1]).toMatchObject({ message, round: 0 });
    expect(shard?.cells[1]?.parked_at).toBeUndefined();
  });

  it('are counted once when the attempt was counted before it was made', async () => {
    const message = messageOf(2, 9);
    expect(await store.begin(message)).toBe(0);
    expect(await store.failed(message, 'no', true)).toBe(1);
    expect(await store.begin(message)).toBe(1);
    expect(await store.begin(message)).toBe(2);
    expect(await store.failed(message, 'again', true)).toBe(3);
  });

  it('keep errors of 500 characters at most, whatever is in them', async () => {
    await store.failed(messageOf(2, 9), `${'x'.repeat(499)}😀 and more`, false);
    const [shard] = await store.shards([2]);
    expect(shard?.cells[0]?.last_error).toBe(`${'x'.repeat(499)}\ufffd`);
  });

  it('are forgotten when they succeed, and their shard with the last of them', async () => {
    await store.failed(messageOf(4, 1), 'no', false);
    await store.failed(messageOf(4, 2), 'no', false);
    await store.succeeded(messageOf(4, 1));
    expect((await store.shards([4]))[0]?.cells.map(({ message }) => message.added_id)).toEqual([2]);
    expect(await store.troubled()).toEqual([4]);
    await store.succeeded(messageOf(4, 2));
    expect(await store.shards([4])).toEqual([]);
    expect(await store.troubled()).toEqual([]);
    expect(await keys()).toEqual(['trigger#trips#bill_rider']);
  });

  it('are counted right by many at once, and no shard that has some is missing from the list', async () => {
    await Promise.all(
      Array.from({ length: 4 }, () => triggerStore(table, NAME)).map(async (one, n) => {
        for (let round = 0; round < 7; round += 1) {
          await one.failed(messageOf(1, 100), 'no', false);
          await one.failed(messageOf(round % 3, n), 'no', false);
          if (round % 2 === 0 || n < 3) await one.succeeded(messageOf(round % 3, n));
        }
      }),
    );
    const shards = await store.shards([0, 1, 2]);
    const [common] = shards.flatMap(({ cells }) => cells.filter(({ message }) => message.added_id === 100));
    expect(common?.attempts).toBe(4 * 7);
    expect(await store.troubled()).toEqual(shards.map(({ shard }) => shard));
  });
});

describe('the mark of a shard', () => {
  it('is kept next to its cells until it is cleared', async () => {
    const before = new Date().toISOString();
    await store.mark(3, 120);
    await store.failed(messageOf(3, 121), 'no', false);
    const [shard] = await store.shards([3]);
    expect(shard?.mark?.added_id).toBe(120);
    expect(shard?.mark && shard.mark.at >= before).toBe(true);
    await store.succeeded(messageOf(3, 121));
    expect((await store.shards([3]))[0]).toMatchObject({ cells: [], mark: { added_id: 120 } });
    await store.mark(3, 130);
    expect((await store.shards([3]))[0]?.mark?.added_id).toBe(130);
    await store.mark(3, undefined);
    expect(await store.shards([3])).toEqual([]);
    expect(await store.troubled()).toEqual([]);
  });
});

describe('shards', () => {
  it('are read in the order asked for, in any number, with what fits into one item', async () => {
    const wanted = Array.from({ length: 130 }, (_, shard) => 400 - shard * 3);
    for (const shard of [wanted[1], wanted[99], wanted[100], wanted[129]]) await store.mark(shard ?? 0, 7);
    expect((await store.shards(wanted)).map(({ shard }) => shard)).toEqual([
      wanted[1],
      wanted[99],
      wanted[100],
      wanted[129],
    ]);
    expect(await store.shards([])).toEqual([]);
  });
});

describe('messages that cannot be read', () => {
  it('are kept once each, cut short, the newest hundred', async () => {
    await store.parkMalformed({ message_id: 'm0', body: 'x'.repeat(2000), error: 'shard: wanted an integer' });
    await store.parkMalformed({ message_id: 'm0', body: 'again', error: 'no' });
    expect(await store.malformed()).toEqual([
      { message_id: 'm0', body: 'x'.repeat(1000), error: 'shard: wanted an integer', parked_at: expect.any(String) },
    ]);
    await Promise.all(
      Array.from({ length: 3 }, (_, n) =>
        triggerStore(table, NAME).parkMalformed({ message_id: `at once ${n}`, body: '', error: '' }),
      ),
    );
    expect(await store.malformed()).toHaveLength(4);
    const many = Array.from({ length: 99 }, (_, n) => ({
      message_id: `m${n}`,
      body: randomBytes(700).toString('base64'),
      error: 'no',
      parked_at: '',
    }));
    await changeItem(table, malformedKey(NAME), () => ({ values: { messages: { B: pack(many) } }, result: undefined }));
    for (const id of ['m99', 'm100']) await store.parkMalformed({ message_id: id, body: '', error: 'no' });
    const kept = (await store.malformed()).map(({ message_id }) => message_id);
    expect(kept).toEqual(Array.from({ length: 100 }, (_, n) => `m${n + 1}`));
  });
});

describe('a forgotten trigger', () => {
  it('leaves nothing behind, and others untouched', async () => {
    for (const one of [store, triggerStore(table, { ...NAME, trigger: 'other' })]) {
      await one.setState('paused');
      await one.failed(messageOf(1, 1), 'no', false);
      await one.mark(2, 7);
      await one.parkMalformed({ message_id: 'm', body: '', error: '' });
    }
    await forgetTrigger(table, NAME);
    expect(await store.status()).toEqual({ state: 'running', troubled_blocks: [] });
    expect(await keys()).toEqual([
      'malformed#trips#other',
      'trigger#trips#other',
      'troubled#trips#other#1',
      'troubled#trips#other#2',
      'troubled#trips#other#block-0',
    ]);
  });
});

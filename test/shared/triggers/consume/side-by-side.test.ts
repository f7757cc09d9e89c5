import { describe, expect, it } from 'vitest';
import type { TriggerMessage } from '../../../../shared/triggers/state/trigger-store.ts';
import { cellOf, consumeAll, decline, messageOf, sharedStages, turn, type Stage } from './support/stage.ts';
import { until } from '../../../support/until.ts';

const open = await sharedStages();

describe('calls side by side', () => {
  const meeting = (of: number, fails: (cell: string) => boolean = () => false) => {
    const met = Promise.withResolvers<void>();
    const seen = { most: 0, order: [] as string[] };
    let under = 0;
    const fn = async (_rowKey: string, message: TriggerMessage): Promise<void> => {
      under += 1;
      seen.most = Math.max(seen.most, under);
      seen.order.push(`${cellOf(message)} begins`);
      if (under >= of) met.resolve();
      await met.promise;
      under -= 1;
      seen.order.push(`${cellOf(message)} ends`);
      if (fails(cellOf(message))) decline();
    };
    return { fn, seen };
  };
  const sameRow = (...messages: readonly TriggerMessage[]) =>
    messages.map((message) => ({ ...message, row_key: messageOf(1, 1).row_key }));

  it('are made for the rows of a shard, as many at a time as there may be; cells of a row wait for each other', async () => {
    const { fn, seen } = meeting(3);
    const stage = await open({ fn, atOnce: 3 });
    stage.send(...sameRow(messageOf(17, 1), messageOf(17, 2)), messageOf(17, 3), messageOf(17, 4), messageOf(4, 1));
    expect(await stage.consume()).toEqual([]);
    expect(seen.most).toBe(3);
    expect(seen.order.indexOf('17/1 ends')).toBeLessThan(seen.order.indexOf('17/2 begins'));
    expect(stage.called.toSorted()).toEqual(['17/1', '17/2', '17/3', '17/4', '4/1']);
    expect(stage.events.flatMap((event) => (event.kind === 'consumed' ? cellOf(event.message) : []))).toEqual([
      '17/1',
      '17/2',
      '17/3',
      '17/4',
      '4/1',
    ]);
  });

  it('are one at a time by default', async () => {
    const seen = { under: 0, most: 0 };
    const stage = await open({
      async fn() {
        seen.most = Math.max(seen.most, (seen.under += 1));
        await turn();
        seen.under -= 1;
      },
    });
    stage.send(messageOf(17, 1), messageOf(4, 1));
    await stage.consume();
    expect(seen).toEqual({ under: 0, most: 1 });
  });

  it('count a failure of its cell alone: what is behind it in its shard comes again, called or not; a later cell of its row is not called', async () => {
    const { fn, seen } = meeting(4, (cell) => cell === '17/2');
    const stage = await open({ fn, atOnce: 10 });
    stage.send(messageOf(17, 1), ...sameRow(messageOf(17, 2), messageOf(17, 4)), messageOf(17, 3), messageOf(4, 1));
    expect((await stage.consume()).toSorted()).toEqual(['17/2', '17/3', '17/4']);
    expect(stage.called.toSorted()).toEqual(['17/1', '17/2', '17/3', '4/1']);
    expect(await stage.failing(17)).toMatchObject([{ message: { added_id: 2 }, attempts: 1 }]);
    expect((await stage.store.shards([17]))[0]?.mark?.added_id).toBe(2);
    expect(seen.most).toBe(4);
    const noted = stage.events.flatMap((event) => (event.kind === 'consumed' ? cellOf(event.message) : []));
    expect(noted).toEqual(['17/1', '4/1']);
  });

  it('wait for a cell that failed before, and go on behind it once that is done', async () => {
    let failures = 2;
    const { fn, seen } = meeting(2);
    const stage = await open({
      atOnce: 10,
      async fn(rowKey, message) {
        await fn(rowKey, message);
        if (message.added_id === 1 && failures-- > 0) decline();
      },
    });
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3));
    await consumeAll(stage);
    // The first time nothing is known; then the cell is tried by itself until it is done.
    expect(stage.called.slice(0, 3).toSorted()).toEqual(['17/1', '17/2', '17/3']);
    expect(stage.called.slice(3)).toEqual(['17/1', '17/1', '17/2', '17/3']);
    expect(seen.order.slice(-4).toSorted()).toEqual(['17/2 begins', '17/2 ends', '17/3 begins', '17/3 ends']);
    expect(seen.order.at(-3)).toMatch(/begins/);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled_blocks: [] });
  });

  it('are not made for what was received before: what ends the process is alone in hand then', async () => {
    const order: string[] = [];
    const stage = await open({
      atOnce: 10,
      async fn(_rowKey, message) {
        order.push(`${cellOf(message)} begins`);
        if (message.shard === 4) await until('5/1 begins', () => order.includes('5/1 begins'));
        if (message.shard === 5) await until('4/1 ends', () => order.includes('4/1 ends'));
        for (let turns = 0; turns < 5; turns += 1) await turn();
        order.push(`${cellOf(message)} ends`);
      },
    });
    stage.send(messageOf(17, 1), messageOf(17, 2));
    await stage.show(stage.receive());
    stage.send(messageOf(4, 1), messageOf(5, 1));
    const records = stage.receive();
    const [first, last] = records.filter(({ receipts }) => receipts === 1);
    const before = records.filter(({ receipts }) => receipts > 1);
    expect(await stage.consume([first, ...before, last].flatMap((record) => record ?? []))).toEqual([]);
    expect(order).toEqual(
      ['4/1 begins', '5/1 begins', '4/1 ends', '5/1 ends'].concat([
        '17/1 begins',
        '17/1 ends',
        '17/2 begins',
        '17/2 ends',
      ]),
    );
  });

  it('keep their group hidden until they have ended: no other consumer gets a cell whose call goes on', async () => {
    const going = Promise.withResolvers<void>();
    const stage = await open({
      atOnce: 10,
      fn: (_rowKey, { added_id }) => (added_id === 1 ? decline() : going.promise),
    });
    stage.send(messageOf(17, 1), messageOf(17, 2));
    const consumed = stage.consume();
    await until('it is known that one failed', () => stage.events.some(({ kind }) => kind === 'failed'));
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect([stage.hidden.get('17/1'), stage.hidden.get('17/2')]).toEqual([[65], [65]]);
    going.resolve();
    expect(await consumed).toEqual(['17/1', '17/2']);
    expect(stage.hiddenFor('17/1')).toBe(1);
  });

  it('are not begun once the trigger is paused', async () => {
    const paused = Promise.withResolvers<void>();
    const stage: Stage = await open({ atOnce: 2, settings: { statusMs: 0 }, fn: () => paused.promise });
    stage.send(...[1, 2, 3, 4, 5, 6].map((shard) => messageOf(shard, 1)));
    const consumed = stage.consume();
    await until('it calls', () => stage.called.length === 2);
    await stage.store.setState('paused');
    paused.resolve();
    await consumed;
    expect(stage.called).toHaveLength(2);
  });

  it('wait where the first of a batch has to be called in its turn, which always finds its time', async () => {
    let left = 5050;
    const stage = await open({
      atOnce: 2,
      definition: { timeoutSeconds: 5 },
      settings: { marginMs: 0 },
      fn: () => void (left -= 100),
    });
    stage.send(messageOf(17, 1));
    await stage.show(stage.receive());
    stage.send(messageOf(4, 1));
    const records = stage.receive().toSorted((one, other) => other.receipts - one.receipts);
    expect(await stage.consume(records, { remainingMs: () => left })).toEqual(['4/1']);
    expect(stage.called).toEqual(['17/1']);
  });

  it('of a row that wait for each other leave the others their places', async () => {
    const { fn, seen } = meeting(2);
    const stage = await open({ fn, atOnce: 2 });
    stage.send(...sameRow(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3)), messageOf(17, 4));
    await stage.consume();
    expect(seen.order.slice(0, 2)).toEqual(['17/1 begins', '17/4 begins']);
  });

  it('go on to their end when the process is to stop: what was called is done, the rest goes back', async () => {
    const stopping = new AbortController();
    const { fn } = meeting(2);
    const stage = await open({
      atOnce: 2,
      async fn(rowKey, message) {
        await fn(rowKey, message);
        stopping.abort();
        await turn();
      },
    });
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(4, 1));
    expect(await stage.consume(undefined, { stopping: stopping.signal })).toEqual(['4/1']);
  });

  it('are begun while there is time for one of its full length', async () => {
    let left = 5400;
    const stage = await open({
      atOnce: 2,
      definition: { timeoutSeconds: 5 },
      settings: { marginMs: 500 },
      async fn() {
        left -= 1000;
        await turn();
      },
    });
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3));
    expect(await stage.consume(undefined, { remainingMs: () => left })).toEqual(['17/2', '17/3']);
    expect(stage.called).toEqual(['17/1']);
  });
});

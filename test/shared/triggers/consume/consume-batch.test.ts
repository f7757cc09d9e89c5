import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PermanentFailure } from '../../../../shared/triggers/consume/permanent-failure.ts';
import type { TriggerMessage } from '../../../../shared/triggers/state/message.ts';
import { encodeMessage } from '../../../../shared/triggers/state/queue-message.ts';
import { cellOf, messageOf, sharedStages, type Stage } from './support/stage.ts';
import { until } from '../../../support/until.ts';

const open = await sharedStages();

const decline = (): never => {
  throw new Error('card declined');
};
const failOn =
  (...cells: readonly string[]) =>
  (_rowKey: string, message: TriggerMessage): void => {
    if (cells.includes(cellOf(message))) decline();
  };

/** Until all is done; what goes back is shown at once. */
async function consumeAll(stage: Stage): Promise<void> {
  for (let round = 0; round < 30 && (await stage.depth()) > 0; round += 1) {
    const records = await stage.receive();
    await stage.consume(records);
    await stage.show(records);
  }
}

describe('a batch', () => {
  it('calls the function with the row key and the message, in order, and is done with what it answered', async () => {
    const seen: [string, TriggerMessage, number][] = [];
    const stage = await open({
      fn: (rowKey, message, _schemaless, { attempt }) => seen.push([rowKey, message, attempt]),
    });
    const messages = [messageOf(17, 1), messageOf(17, 2), messageOf(4, 9)];
    await stage.send(...messages);
    expect(await stage.consume()).toEqual([]);
    expect(seen).toEqual(messages.map((message) => [message.row_key, message, 1]));
    expect(await stage.depth()).toBe(0);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled: [] });
  });

  it('does not look at the trigger again while what is known of it is fresh', async () => {
    const looks = async (statusMs: number): Promise<number> => {
      let looked = 0;
      const stage = await open({
        settings: { statusMs },
        store: (store) => ({ status: () => ((looked += 1), store.status()) }),
      });
      await stage.send(messageOf(1, 1), messageOf(2, 1));
      await stage.consume();
      await sleep(60);
      await stage.send(messageOf(1, 2));
      await stage.consume();
      return looked;
    };
    expect(await looks(60_000)).toBe(1);
    expect(await looks(50)).toBeGreaterThanOrEqual(2);
  });

  it('parks messages that name no cell of this trigger, and goes on with those behind them', async () => {
    const stage = await open();
    await stage.sendText('{"shard": 17', '17');
    await stage.send(
      messageOf(17, 2, { trigger: 'feed_warehouse' }),
      messageOf(17, 3, { datastore: 'riders' }),
      messageOf(17, 4),
    );
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(['17/4']);
    expect(await stage.store.malformed()).toEqual([
      expect.objectContaining({ body: '{"shard": 17', error: 'SchemalessError: the message is not JSON' }),
      expect.objectContaining({
        body: encodeMessage(messageOf(17, 2, { trigger: 'feed_warehouse' })),
        error: 'SchemalessError: trigger: wanted bill_rider, got "feed_warehouse"',
      }),
      expect.objectContaining({ error: 'SchemalessError: datastore: wanted trips, got "riders"' }),
    ]);
  });
});

describe('a message whose cell was sent again since', () => {
  it('is void, and done; one of an earlier release, which names no generation, never is: nobody knows whether its cell was', async () => {
    const stage = await open({
      store: (store) => ({ status: async () => ({ ...(await store.status()), least_generation: 2 }) }),
    });
    const { generation: _generation, ...unnamed } = messageOf(17, 2);
    await stage.send(messageOf(17, 1, { generation: 1 }), unnamed, messageOf(17, 3, { generation: 2 }));
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(['17/2', '17/3']);
    expect(stage.events.filter(({ kind }) => kind === 'void')).toMatchObject([{ message: { added_id: 1 } }]);
    expect(await stage.depth()).toBe(0);
  });
});

describe('a failure', () => {
  it('takes back the message and those behind it in its group, longer each time, while other groups go on', async () => {
    const stage = await open({ fn: failOn('17/2') });
    await stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3), messageOf(4, 1), messageOf(4, 2));
    expect(await stage.consume()).toEqual(['17/2', '17/3']);
    expect(stage.called).toEqual(['17/1', '17/2', '4/1', '4/2']);
    expect([stage.hiddenFor('17/2'), stage.hiddenFor('17/3')]).toEqual([1, 1]);
    expect(await stage.receive(0)).toEqual([]);
    expect(await stage.consume()).toEqual(['17/2', '17/3']);
    expect([stage.hiddenFor('17/2'), stage.hiddenFor('17/3')]).toEqual([2, 2]);
    expect(stage.called.slice(4)).toEqual(['17/2']);
  });

  it('never hides messages for more than the longest backoff', async () => {
    const stage = await open({
      definition: { maxAttempts: 100 },
      fn: failOn('17/1'),
      settings: { longestBackoffSeconds: 4 },
    });
    await stage.send(messageOf(17, 1));
    const seconds: (number | undefined)[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const records = await stage.receive();
      await stage.consume(records);
      seconds.push(stage.hiddenFor('17/1'));
      await stage.show(records);
    }
    expect(seconds).toEqual([1, 2, 4, 4, 4]);
  });

  it('is forgotten when the cell succeeds', async () => {
    let failures = 2;
    const attempts: number[] = [];
    const stage = await open({
      fn(_rowKey, _message, _schemaless, { attempt }) {
        attempts.push(attempt);
        if (failures-- > 0) decline();
      },
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2));
    await stage.consume();
    const [failing] = await stage.failing(17);
    expect(failing).toMatchObject({ message: messageOf(17, 1), attempts: 1, last_error: 'card declined' });
    await consumeAll(stage);
    expect(stage.called).toEqual(['17/1', '17/1', '17/1', '17/2']);
    expect(attempts).toEqual([1, 2, 3, 1]);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled: [] });
  });

  it('parks the cell after as many attempts as the trigger has, and those behind it go on', async () => {
    const stage = await open({ fn: failOn('17/1') });
    await stage.send(messageOf(17, 1), messageOf(17, 2));
    await consumeAll(stage);
    expect(stage.called).toEqual(['17/1', '17/1', '17/1', '17/2']);
    expect(await stage.parked(17)).toEqual([
      expect.objectContaining({ message: messageOf(17, 1), attempts: 3, last_error: 'card declined' }),
    ]);
  });

  it('parks the cell at once when it is permanent', async () => {
    const stage = await open({
      fn(_rowKey, message) {
        if (message.added_id === 1) throw new PermanentFailure('fare.total: wanted a number, got string');
      },
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2));
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(['17/1', '17/2']);
    expect(await stage.parked(17)).toEqual([
      expect.objectContaining({ attempts: 1, last_error: 'PermanentFailure: fare.total: wanted a number, got string' }),
    ]);
  });

  it('counts a function that does not answer in time, and tells it', async () => {
    const signals: AbortSignal[] = [];
    const stage = await open({
      definition: { timeoutSeconds: 0.2, maxAttempts: 1 },
      fn: (_rowKey, _message, _schemaless, { signal }) => (
        signals.push(signal),
        sleep(60_000, undefined, { ref: false })
      ),
    });
    await stage.send(messageOf(17, 1));
    await stage.consume();
    expect(signals[0]?.aborted).toBe(true);
    expect(await stage.parked(17)).toEqual([
      expect.objectContaining({ attempts: 1, last_error: 'it did not answer within 0.2 s' }),
    ]);
  });

  it('also counts a function that is not async and throws something else than an Error', async () => {
    const stage = await open({
      definition: { maxAttempts: 1 },
      fn() {
        // oxlint-disable-next-line no-throw-literal -- functions do
        throw 'no card';
      },
    });
    await stage.send(messageOf(17, 1));
    await stage.consume();
    expect(await stage.parked(17)).toEqual([expect.objectContaining({ last_error: 'no card' })]);
  });
});

describe('a function that ends its process', () => {
  it('is counted from the second receipt on, before it is called, and its cell is parked without another call', async () => {
    const stage = await open({ definition: { maxAttempts: 2 } });
    await stage.send(messageOf(17, 1), messageOf(17, 2));
    // As a consumer that is gone after it was called: nothing is written the first time, an attempt each further time.
    await stage.show(await stage.receive());
    for (let death = 0; death < 2; death += 1) {
      const [first, second] = await stage.receive();
      await stage.store.begin(messageOf(17, 1));
      await stage.show([first, second].filter((record) => record !== undefined));
    }
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(['17/2']);
    expect(await stage.parked(17)).toEqual([
      expect.objectContaining({ message: messageOf(17, 1), attempts: 2, last_error: 'it ended before it answered' }),
    ]);
    // Received as often, but never begun in vain.
    expect(await stage.failing(17)).toHaveLength(1);
  });

  it('has its attempt counted when it is called, not afterwards', async () => {
    const counted: number[] = [];
    const stage: Stage = await open({
      fn: async () => counted.push((await stage.failing(17))[0]?.attempts ?? 0),
    });
    await stage.send(messageOf(17, 1));
    await stage.show(await stage.receive());
    await stage.consume();
    expect(counted).toEqual([1]);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled: [] });
  });

  it('keeps the error that it had before', async () => {
    const stage = await open({ definition: { maxAttempts: 2 }, fn: failOn('17/1') });
    await stage.send(messageOf(17, 1));
    const records = await stage.receive();
    await stage.consume(records);
    await stage.show(records);
    await stage.receive();
    await stage.store.begin(messageOf(17, 1));
    await stage.consume(records.map((record) => ({ ...record, receipts: 3 })));
    expect(await stage.parked(17)).toEqual([
      expect.objectContaining({ last_error: 'it ended before it answered; before that: card declined' }),
    ]);
  });
});

describe('what went back behind a cell that failed', () => {
  it('is not counted before it is called, however often that was, nor is the cell itself', async () => {
    let failures = 2;
    const begun: string[] = [];
    const stage = await open({
      fn: (_rowKey, { added_id }) => (added_id === 1 && failures-- > 0 ? decline() : undefined),
      store: (store) => ({ begin: (message) => (begun.push(cellOf(message)), store.begin(message)) }),
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3));
    await consumeAll(stage);
    expect(stage.called).toEqual(['17/1', '17/1', '17/1', '17/2', '17/3']);
    expect(begun).toEqual([]);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled: [] });
  });

  it('is counted once it was received more often than that explains', async () => {
    const begun: string[] = [];
    const stage = await open({
      fn: failOn('17/1'),
      definition: { maxAttempts: 2 },
      store: (store) => ({ begin: (message) => (begun.push(cellOf(message)), store.begin(message)) }),
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2));
    const records = await stage.receive();
    await stage.consume(records);
    // As if a consumer had died meanwhile: a third receipt of one failure.
    await stage.consume(records.map((record) => ({ ...record, receipts: 3 })));
    expect(begun).toEqual(['17/1', '17/2']);
  });
});

describe('calls side by side', () => {
  /** Calls that wait until so many are under way, or for a while; and how they overlapped. */
  const meeting = (of: number, fails: (cell: string) => boolean = () => false) => {
    const met = Promise.withResolvers<void>();
    const seen = { most: 0, order: [] as string[] };
    let under = 0;
    const fn = async (_rowKey: string, message: TriggerMessage): Promise<void> => {
      under += 1;
      seen.most = Math.max(seen.most, under);
      seen.order.push(`${cellOf(message)} begins`);
      if (under >= of) met.resolve();
      await Promise.race([met.promise, sleep(300)]);
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
    await stage.send(
      ...sameRow(messageOf(17, 1), messageOf(17, 2)),
      messageOf(17, 3),
      messageOf(17, 4),
      messageOf(4, 1),
    );
    expect(await stage.consume()).toEqual([]);
    expect(seen.most).toBe(3);
    expect(seen.order.indexOf('17/1 ends')).toBeLessThan(seen.order.indexOf('17/2 begins'));
    expect(stage.called.toSorted()).toEqual(['17/1', '17/2', '17/3', '17/4', '4/1']);
    // What became of them is noted in the order of the log.
    expect(stage.events.flatMap((event) => (event.kind === 'consumed' ? cellOf(event.message) : []))).toEqual([
      '17/1',
      '17/2',
      '17/3',
      '17/4',
      '4/1',
    ]);
  });

  it('are one at a time by default', async () => {
    const { fn, seen } = meeting(2);
    const stage = await open({ fn });
    await stage.send(messageOf(17, 1), messageOf(4, 1));
    await stage.consume();
    expect(seen.most).toBe(1);
  });

  it('count a failure of its cell alone: what is behind it in its shard comes again, called or not; a later cell of its row is not called', async () => {
    const { fn, seen } = meeting(4, (cell) => cell === '17/2');
    const stage = await open({ fn, atOnce: 10 });
    await stage.send(
      messageOf(17, 1),
      ...sameRow(messageOf(17, 2), messageOf(17, 4)),
      messageOf(17, 3),
      messageOf(4, 1),
    );
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
    await stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3));
    await consumeAll(stage);
    // The first time nothing is known; then the cell is tried by itself until it is done.
    expect(stage.called.slice(0, 3).toSorted()).toEqual(['17/1', '17/2', '17/3']);
    expect(stage.called.slice(3)).toEqual(['17/1', '17/1', '17/2', '17/3']);
    expect(seen.order.slice(-4).toSorted()).toEqual(['17/2 begins', '17/2 ends', '17/3 begins', '17/3 ends']);
    expect(seen.order.at(-3)).toMatch(/begins/);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled: [] });
  });

  it('are not made for what was received before: what ends the process is alone in hand then', async () => {
    const order: string[] = [];
    const stage = await open({
      atOnce: 10,
      async fn(_rowKey, message) {
        order.push(`${cellOf(message)} begins`);
        await sleep(message.shard === 5 ? 300 : 20);
        order.push(`${cellOf(message)} ends`);
      },
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2));
    await stage.show(await stage.receive());
    await stage.send(messageOf(4, 1), messageOf(5, 1));
    const records = await stage.receive();
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

  it('keep their group hidden until they have ended: nobody else is given a cell whose call goes on', async () => {
    const ended: string[] = [];
    const stage = await open({
      atOnce: 10,
      async fn(_rowKey, message) {
        if (message.added_id === 1) decline();
        await sleep(1800);
        ended.push(cellOf(message));
      },
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2));
    const consumed = stage.consume();
    await sleep(300);
    expect(await stage.receive(1)).toEqual([]);
    expect(await consumed).toEqual(['17/1', '17/2']);
    expect(ended).toEqual(['17/2']);
  });

  it('are not begun once the trigger is paused', async () => {
    const stage: Stage = await open({
      atOnce: 2,
      settings: { statusMs: 50 },
      fn: () => sleep(200),
    });
    await stage.send(...[1, 2, 3, 4, 5, 6].map((shard) => messageOf(shard, 1)));
    const consumed = stage.consume();
    await until('it calls', () => stage.called.length === 2);
    await stage.store.setState('paused');
    await consumed;
    expect(stage.called.length).toBeLessThanOrEqual(4);
  });

  it('wait where the first of a batch has to be called in its turn, which always finds its time', async () => {
    const stage = await open({
      atOnce: 2,
      definition: { timeoutSeconds: 5 },
      settings: { marginMs: 0 },
      fn: () => sleep(100),
    });
    await stage.send(messageOf(17, 1));
    await stage.show(await stage.receive());
    await stage.send(messageOf(4, 1));
    const records = (await stage.receive()).toSorted((one, other) => other.receipts - one.receipts);
    const begun = Date.now();
    // Enough for the first alone.
    const remainingMs = (): number => 5050 - (Date.now() - begun);
    expect(await stage.consume(records, { remainingMs })).toEqual(['4/1']);
    expect(stage.called).toEqual(['17/1']);
  });

  it('of a row that wait for each other leave the others their places', async () => {
    const { fn, seen } = meeting(2);
    const stage = await open({ fn, atOnce: 2 });
    await stage.send(...sameRow(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3)), messageOf(17, 4));
    await stage.consume();
    expect(seen.order.slice(0, 2)).toEqual(['17/1 begins', '17/4 begins']);
  });

  it('go on to their end when the process is to stop: what was called is done, the rest goes back', async () => {
    const stopping = new AbortController();
    const stage = await open({
      atOnce: 2,
      async fn() {
        await sleep(20);
        stopping.abort();
        await sleep(100);
      },
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(4, 1));
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
        await sleep(20);
      },
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3));
    expect(await stage.consume(undefined, { remainingMs: () => left })).toEqual(['17/2', '17/3']);
    expect(stage.called).toEqual(['17/1']);
  });
});

describe('messages that are consumed', () => {
  it('stay hidden as long as that takes, however short the queue hides them', async () => {
    let call: Promise<void> | undefined;
    const stage = await open({
      visibilitySeconds: 1,
      settings: { holdSeconds: 2, holdEveryMs: 300 },
      fn: () => (call ??= sleep(3500)),
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2));
    const records = await stage.receive();
    const consumed = stage.consume(records);
    for (let tries = 0; tries < 3; tries += 1) expect(await stage.receive(1)).toEqual([]);
    expect(await consumed).toEqual([]);
    expect(stage.called).toEqual(['17/1', '17/2']);
  });

  it('come back soon when their consumer is gone, however long the queue hides them', async () => {
    const stage = await open({ visibilitySeconds: 1000 });
    await stage.send(messageOf(17, 1), messageOf(17, 2));
    await stage.consume();
    expect([stage.hidden.get('17/1'), stage.hidden.get('17/2')]).toEqual([[60], [60]]);
  });
});

describe('the time of a batch', () => {
  it('is not cut from a call: what there is no time for goes back at once, uncounted', async () => {
    let left = 6000;
    const stage = await open({
      definition: { timeoutSeconds: 5 },
      settings: { marginMs: 500 },
      fn: () => void (left -= 1500),
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3), messageOf(4, 1));
    expect(await stage.consume(undefined, { remainingMs: () => left })).toEqual(['17/2', '17/3', '4/1']);
    expect(stage.hiddenFor('17/2')).toBe(0);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled: [] });
  });

  it('limits the first call, which never has more', async () => {
    const stage = await open({
      definition: { timeoutSeconds: 60 },
      settings: { marginMs: 100 },
      fn: () => sleep(30_000, undefined, { ref: false }),
    });
    await stage.send(messageOf(17, 1));
    expect(await stage.consume(undefined, { remainingMs: () => 400 })).toEqual(['17/1']);
    expect(stage.events).toContainEqual(
      expect.objectContaining({ kind: 'failed', error: 'it did not answer within 0.3 s' }),
    );
  });

  it('ends with the process: the call under way is waited for, the rest goes back at once', async () => {
    const stopping = new AbortController();
    const stage = await open({
      async fn() {
        stopping.abort();
        await sleep(100);
      },
    });
    await stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(4, 1));
    expect(await stage.consume(undefined, { stopping: stopping.signal })).toEqual(['17/2', '4/1']);
    expect((await stage.receive(0)).map(({ body }) => cellOf(JSON.parse(body))).sort()).toEqual(['17/2', '4/1']);
  });
});

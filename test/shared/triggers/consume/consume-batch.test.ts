import { describe, expect, it, vi } from 'vitest';
import type { TriggerDefinition } from '../../../../shared/definitions/definitions.ts';
import { PermanentFailure } from '../../../../shared/triggers/consume/permanent-failure.ts';
import type { TriggerFunction } from '../../../../shared/triggers/consume/trigger-function.ts';
import type { TriggerMessage } from '../../../../shared/triggers/state/trigger-store.ts';
import { encodeMessage } from '../../../../shared/triggers/state/queue-message.ts';
import {
  cellOf,
  consumeAll,
  decline,
  failOn,
  messageOf,
  NEVER,
  sharedStages,
  turn,
  type Stage,
} from './support/stage.ts';
import { until } from '../../../support/until.ts';

const open = await sharedStages();

describe('a batch', () => {
  it('calls the function with the row key and the message, in order, and is done with what it answered', async () => {
    const seen: [string, TriggerMessage, number][] = [];
    const stage = await open({
      fn: (rowKey, message, _schemaless, { attempt }) => seen.push([rowKey, message, attempt]),
    });
    const messages = [messageOf(17, 1), messageOf(17, 2), messageOf(4, 9)];
    stage.send(...messages);
    expect(await stage.consume()).toEqual([]);
    expect(seen).toEqual(messages.map((message) => [message.row_key, message, 1]));
    expect(stage.depth()).toBe(0);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled_blocks: [] });
  });

  it('does not read the trigger again while its cached state is fresh', async () => {
    const polls = async (statusMs: number): Promise<number> => {
      let polled = 0;
      const stage = await open({
        settings: { statusMs },
        store: (store) => ({ status: () => ((polled += 1), store.status()) }),
      });
      stage.send(messageOf(1, 1), messageOf(2, 1));
      await stage.consume();
      stage.send(messageOf(1, 2));
      await stage.consume();
      return polled;
    };
    expect(await polls(60_000)).toBe(1);
    expect(await polls(0)).toBeGreaterThanOrEqual(2);
  });

  it('parks messages that name no cell of this trigger, and goes on with those behind them', async () => {
    const stage = await open();
    stage.sendText('{"shard": 17', '17');
    stage.send(
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

describe('what a process consumed', () => {
  const known = async (stage: Stage) => (await stage.store.consumed.read([17])).get(17)?.added_id;

  it('is known once its first batch ends: an instance may be frozen behind its answer, and reaped', async () => {
    const stage = await open();
    const hourAgo = new Date(new Date().getTime() - 3_600_000).toISOString();
    await stage.store.beginQueue('url', hourAgo);
    stage.send(messageOf(17, 1), messageOf(17, 2));
    await stage.consume();
    expect(await known(stage)).toBe(2);
    // Its queue is known to be sound as well.
    expect((await stage.store.status()).sound_at).not.toBe(hourAgo);
  });

  it('is written every half minute while it consumes, not with each batch', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const stage = await open();
    for (const addedId of [1, 2, 3]) {
      stage.send(messageOf(17, addedId));
      await stage.consume();
    }
    expect(await known(stage)).toBe(1);
    vi.advanceTimersByTime(30_000);
    stage.send(messageOf(4, 1));
    await stage.consume();
    vi.useRealTimers();
    expect(await known(stage)).toBe(3);
  });
});

describe('a message whose cell was sent again since', () => {
  it('is void, and done', async () => {
    const stage = await open({
      store: (store) => ({ status: async () => ({ ...(await store.status()), least_generation: 2 }) }),
    });
    stage.send(messageOf(17, 1, { generation: 1 }), messageOf(17, 3, { generation: 2 }));
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(['17/3']);
    expect(stage.events.filter(({ kind }) => kind === 'void')).toMatchObject([{ message: { added_id: 1 } }]);
    expect(stage.depth()).toBe(0);
  });
});

describe('a failure', () => {
  it('takes back the message and those behind it in its group, longer each time, while other groups go on', async () => {
    const stage = await open({ fn: failOn('17/2') });
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3), messageOf(4, 1), messageOf(4, 2));
    expect(await stage.consume()).toEqual(['17/2', '17/3']);
    expect(stage.called).toEqual(['17/1', '17/2', '4/1', '4/2']);
    expect([stage.hiddenFor('17/2'), stage.hiddenFor('17/3')]).toEqual([1, 1]);
    expect(stage.receive(0)).toEqual([]);
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
    stage.send(messageOf(17, 1), messageOf(17, 2));
    const seconds: (number | undefined)[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const records = stage.receive();
      await stage.consume(records);
      seconds.push(stage.hiddenFor('17/1'));
      await stage.show(records);
    }
    expect(seconds).toEqual([1, 2, 4, 4, 4]);
    expect([await stage.parked(17), stage.called.includes('17/2')], 'the control: none parked').toEqual([[], false]);
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
    stage.send(messageOf(17, 1), messageOf(17, 2));
    await stage.consume();
    const [failing] = await stage.failing(17);
    expect(failing).toMatchObject({
      message: messageOf(17, 1),
      attempts: 1,
      last_error: expect.stringMatching(/^card declined at stage\.ts:\d+$/u),
    });
    await consumeAll(stage);
    expect(stage.called).toEqual(['17/1', '17/1', '17/1', '17/2']);
    expect(attempts).toEqual([1, 2, 3, 1]);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled_blocks: [] });
  });

  const signals: AbortSignal[] = [];
  it.each<[string, Partial<TriggerDefinition>, TriggerFunction, number, RegExp]>([
    ['after as many attempts as the trigger has', {}, decline, 3, /^card declined at stage\.ts:\d+$/u],
    [
      'at once when it is permanent',
      {},
      () => {
        throw new PermanentFailure('fare.total: wanted a number, got string');
      },
      1,
      /^PermanentFailure: fare\.total: wanted a number, got string at consume-batch\.test\.ts:\d+$/u,
    ],
    [
      'when it does not answer in time, which it is told',
      { timeoutSeconds: 0.2, maxAttempts: 1 },
      (_rowKey, _message, _schemaless, { signal }) => (signals.push(signal), NEVER),
      1,
      /^it did not answer within 0\.2 s$/u,
    ],
    [
      'when it is not async, and throws something else than an Error',
      { maxAttempts: 1 },
      () => {
        // oxlint-disable-next-line no-throw-literal -- functions do
        throw 'no card';
      },
      1,
      /^no card$/u,
    ],
  ])('parks the cell %s, and those behind it go on', async (_when, definition, fail, attempts, last_error) => {
    const stage = await open({
      definition,
      fn: (rowKey, message, ...more) => (message.added_id === 1 ? fail(rowKey, message, ...more) : undefined),
    });
    stage.send(messageOf(17, 1), messageOf(17, 2));
    await consumeAll(stage);
    expect(stage.called).toEqual([...Array.from({ length: attempts }, () => '17/1'), '17/2']);
    expect(await stage.parked(17)).toEqual([
      expect.objectContaining({ message: messageOf(17, 1), attempts, last_error: expect.stringMatching(last_error) }),
    ]);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });
});

describe('a function that ends its process', () => {
  it('is counted from the second receipt on, before it is called, and its cell is parked without another call', async () => {
    const stage = await open({ definition: { maxAttempts: 2 } });
    stage.send(messageOf(17, 1), messageOf(17, 2));
    // As a consumer that is gone after it was called: nothing is written the first time, an attempt each further time.
    await stage.show(stage.receive());
    for (let death = 0; death < 2; death += 1) {
      const [first, second] = stage.receive();
      await stage.store.begin(messageOf(17, 1));
      await stage.show([first, second].filter((record) => record !== undefined));
    }
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(['17/2']);
    expect(await stage.parked(17)).toEqual([
      expect.objectContaining({ message: messageOf(17, 1), attempts: 2, last_error: 'it ended before it answered' }),
    ]);
    expect(await stage.failing(17)).toHaveLength(1);
  });

  it('interrupts the other groups of its batch twice at most: its cell is known then, and called alone', async () => {
    const deadly = cellOf(messageOf(17, 1));
    const stage: Stage = await open({
      definition: { maxAttempts: 5 },
      fn: (_rowKey, message) => (cellOf(message) === deadly ? NEVER : undefined),
    });
    const callsOf = (cell: string): number => stage.called.filter((one) => one === cell).length;
    stage.send(messageOf(4, 1), messageOf(17, 1), messageOf(5, 1));
    for (let deaths = 0; (await stage.parked(17)).length === 0 && deaths < 10; deaths += 1) {
      const before = callsOf(deadly);
      const records = stage.receive();
      let isOver = false;
      void stage.consume(records).then(() => (isOver = true));
      await until('its process ends, or it is done', () => isOver || callsOf(deadly) > before);
      // Another process gets what went back; later, what the one that ended had.
      await stage.consume(stage.receive(0));
      await stage.show(records);
    }
    await consumeAll(stage);
    expect([callsOf(deadly), callsOf('5/1'), callsOf('4/1') <= 3]).toEqual([6, 1, true]);
    expect(stage.depth()).toBe(0);
  });

  it('has its attempt counted when it is called, not afterwards', async () => {
    const counted: number[] = [];
    const stage: Stage = await open({ fn: async () => counted.push((await stage.failing(17))[0]?.attempts ?? 0) });
    stage.send(messageOf(17, 1));
    await stage.show(stage.receive());
    await stage.consume();
    expect(counted).toEqual([1]);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled_blocks: [] });
  });

  it('keeps the error that it had before', async () => {
    const stage = await open({ definition: { maxAttempts: 2 }, fn: failOn('17/1') });
    stage.send(messageOf(17, 1));
    const records = stage.receive();
    await stage.consume(records);
    await stage.show(records);
    stage.receive();
    await stage.store.begin(messageOf(17, 1));
    await stage.consume(records.map((record) => ({ ...record, receipts: 3 })));
    expect(await stage.parked(17)).toEqual([
      expect.objectContaining({
        last_error: expect.stringMatching(
          /^it ended before it answered; before that: card declined at stage\.ts:\d+$/u,
        ),
      }),
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
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3));
    await consumeAll(stage);
    expect(stage.called).toEqual(['17/1', '17/1', '17/1', '17/2', '17/3']);
    expect(begun).toEqual([]);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled_blocks: [] });
  });

  it('is counted once it was received more often than that explains', async () => {
    const begun: string[] = [];
    const stage = await open({
      fn: failOn('17/1'),
      definition: { maxAttempts: 2 },
      store: (store) => ({ begin: (message) => (begun.push(cellOf(message)), store.begin(message)) }),
    });
    stage.send(messageOf(17, 1), messageOf(17, 2));
    const records = stage.receive();
    await stage.consume(records);
    // As if a consumer had died meanwhile: a third receipt of one failure.
    await stage.consume(records.map((record) => ({ ...record, receipts: 3 })));
    expect(begun).toEqual(['17/1', '17/2']);
  });
});

describe('messages that are consumed', () => {
  it('are hidden again and again while that takes', async () => {
    const held = (): number => stage.hidden.get('17/2')?.length ?? 0;
    const stage: Stage = await open({
      settings: { holdSeconds: 2, holdEveryMs: 10 },
      fn: () => until('they are hidden again', () => held() > 2),
    });
    stage.send(messageOf(17, 1), messageOf(17, 2));
    expect(await stage.consume()).toEqual([]);
    expect(new Set(stage.hidden.get('17/1'))).toEqual(new Set([2]));
  });

  it('come back soon when their consumer is gone, however long the queue hides them', async () => {
    const stage = await open({ visibilitySeconds: 1000 });
    stage.send(messageOf(17, 1), messageOf(17, 2));
    await stage.consume();
    // The time of a call, and a minute.
    expect([stage.hidden.get('17/1'), stage.hidden.get('17/2')]).toEqual([[65], [65]]);
  });

  it('stay hidden while each call keeps the process busy for all the time that it may take, so that no timer fires', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const others: string[] = [];
    const stage: Stage = await open({
      definition: { timeoutSeconds: 300 },
      fn() {
        others.push(...stage.receive(300).map(({ body }) => body));
        vi.advanceTimersByTime(300_000);
      },
    });
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(4, 1));
    expect(await stage.consume()).toEqual([]);
    vi.useRealTimers();
    expect([others, stage.called]).toEqual([[], ['17/1', '17/2', '4/1']]);
  });

  it('are parked in the end, and not called for ever, if each call keeps the process busy for longer than it may take', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const stage = await open({ definition: { maxAttempts: 2 }, fn: () => void vi.advanceTimersByTime(5001) });
    stage.send(messageOf(17, 1));
    await consumeAll(stage);
    vi.useRealTimers();
    expect(await stage.parked(17)).toMatchObject([{ attempts: 2, last_error: 'it did not answer within 5 s' }]);
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
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3), messageOf(4, 1));
    expect(await stage.consume(undefined, { remainingMs: () => left })).toEqual(['17/2', '17/3', '4/1']);
    expect(stage.hiddenFor('17/2')).toBe(0);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled_blocks: [] });
  });

  it('limits the first call, which never has more', async () => {
    const stage = await open({ definition: { timeoutSeconds: 60 }, settings: { marginMs: 100 }, fn: () => NEVER });
    stage.send(messageOf(17, 1));
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
        await turn();
      },
    });
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(4, 1));
    expect(await stage.consume(undefined, { stopping: stopping.signal })).toEqual(['17/2', '4/1']);
    expect(
      stage
        .receive(0)
        .map(({ body }) => cellOf(JSON.parse(body)))
        .sort(),
    ).toEqual(['17/2', '4/1']);
  });
});

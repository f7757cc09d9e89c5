import { describe, expect, it } from 'vitest';
import type { TriggerMessage } from '../../../../shared/triggers/state/trigger-store.ts';
import { decline, messageOf, sharedStages, type Stage } from './support/stage.ts';

const open = await sharedStages();

const noState = (): Promise<never> => Promise.reject(new Error('no DynamoDB'));
const stateOf = async ({ store }: Stage) => (await store.status()).state;

/** A trigger of which 17/1 is parked, and which answers `fn` from then on. */
async function openWithParked(fn: () => unknown = () => undefined): Promise<Stage> {
  let answer: () => unknown = decline;
  const stage = await open({ definition: { maxAttempts: 1 }, settings: { statusMs: 0 }, fn: () => answer() });
  stage.send(messageOf(17, 1));
  await stage.consume();
  answer = fn;
  stage.called.length = 0;
  expect(await stage.failing(17)).toEqual([expect.objectContaining({ attempts: 1, parked_at: expect.any(String) })]);
  return stage;
}

describe('a trigger that does not run', () => {
  it('calls nothing and parks nothing: messages go back for longer each time, and are consumed in order once it is resumed', async () => {
    const stage = await open({ settings: { statusMs: 0, longestPauseSeconds: 4 } });
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(4, 1));
    stage.sendText('no JSON', '4');
    await stage.store.setState('paused', 'card service away');
    const seconds: (number | undefined)[] = [];
    for (let receipt = 1; receipt <= 3; receipt += 1) {
      const records = stage.receive();
      expect(await stage.consume(records)).toEqual(['17/1', '17/2', '4/1', 'no JSON']);
      seconds.push(stage.hiddenFor('17/2'));
      await stage.show(records);
    }
    expect(seconds).toEqual([2, 4, 4]);
    expect(stage.called).toEqual([]);
    expect(await stage.store.malformed()).toEqual([]);

    await stage.store.resume();
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(['17/1', '17/2', '4/1']);
  });

  it('is stopped by so many parked cells, and consumes nothing more of the batch, nor of the next', async () => {
    const stage = await open({ definition: { maxAttempts: 1, stopAfterParked: 2 }, fn: decline });
    stage.send(messageOf(17, 1), messageOf(4, 1), messageOf(17, 2), messageOf(9, 1));
    const records = stage.receive();
    expect(await stage.consume(records)).toHaveLength(2);
    expect(await stateOf(stage)).toBe('stopped');
    expect(stage.events).toContainEqual({ kind: 'stopped' });
    await stage.show(records);
    expect(await stage.consume()).toHaveLength(2);
    expect(stage.called).toHaveLength(2);
  });

  it('goes on with as many parked cells where its threshold is higher: the control', async () => {
    const stage = await open({ definition: { maxAttempts: 1, stopAfterParked: 100 }, fn: decline });
    stage.send(messageOf(17, 1), messageOf(4, 1), messageOf(17, 2), messageOf(9, 1));
    expect(await stage.consume()).toEqual([]);
    expect([await stateOf(stage), stage.called.length]).toEqual(['running', 4]);
  });

  it('consumes nothing more of the batch that stopped it, also when its state is unavailable from then on', async () => {
    let polled = 0;
    const stage = await open({
      definition: { maxAttempts: 1, stopAfterParked: 1 },
      fn: decline,
      store: (store) => ({
        async status() {
          polled += 1;
          return polled > 1 ? noState() : store.status();
        },
      }),
    });
    stage.send(messageOf(17, 1), messageOf(4, 1));
    expect(await stage.consume()).toEqual(['4/1']);
    expect(stage.called).toEqual(['17/1']);
  });

  it('parks no cell whose last attempt fails after it was paused: it goes back, and is called for once that is over', async () => {
    const stage: Stage = await open({
      definition: { maxAttempts: 1 },
      settings: { statusMs: 0 },
      async fn() {
        if (stage.called.length > 1) return;
        await stage.store.setState('paused');
        decline();
      },
    });
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(4, 1));
    const records = stage.receive();
    expect(await stage.consume(records)).toEqual(['17/1', '17/2', '4/1']);
    expect(stage.called).toEqual(['17/1']);
    expect(stage.hiddenFor('17/1')).toBe(2);
    await stage.show(records);
    await stage.store.resume();
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(['17/1', '17/1', '17/2', '4/1']);
    expect(await stage.failing(17)).toEqual([]);
  });

  it('calls again for a cell that had all its attempts but could not be parked, when the trigger is resumed', async () => {
    let isUnavailable = true;
    let isFixed = false;
    const stage = await open({
      definition: { maxAttempts: 2 },
      settings: { statusMs: 0 },
      fn: () => isFixed || decline(),
      store: (store) => ({ park: (...parking) => (isUnavailable ? noState() : store.park(...parking)) }),
    });
    stage.send(messageOf(17, 1));
    for (let receipt = 1; receipt <= 2; receipt += 1) {
      const records = stage.receive();
      expect(await stage.consume(records)).toEqual(['17/1']);
      await stage.show(records);
    }
    await stage.store.setState('paused');
    [isUnavailable, isFixed] = [false, true];
    await stage.store.resume();
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(['17/1', '17/1', '17/1']);
    expect(await stage.store.status()).toMatchObject({ troubled_blocks: [] });
  });

  it('is taken for one that does not when its messages waited for longer than is safe, and all is wanted again', async () => {
    const wanted: string[] = [];
    const stage = await open({
      settings: { statusMs: 0, safeHaltMs: 60_000 },
      store: (store) => ({
        status: async () => ({ ...(await store.status()), sound_at: '2020-01-01T00:00:00.000Z' }),
        wantResend: async ({ why }) => void wanted.push(why),
      }),
    });
    stage.send(messageOf(17, 1), messageOf(4, 1));
    expect(await stage.consume()).toEqual(['17/1', '4/1']);
    expect(stage.called).toEqual([]);
    expect(wanted).toEqual(['its messages were not consumed for longer than is safe, since 2020-01-01T00:00:00.000Z']);
  });
});

describe('a parked cell', () => {
  /** Another cell that has the added id of the parked one, since the log was cut. */
  const other = (time: string, more: Partial<TriggerMessage> = {}) =>
    messageOf(17, 1, {
      row_key: '99999999-0000-4000-8000-000000000000',
      created_at: `2026-01-${time}.000000Z`,
      ...more,
    });
  const retry = (stage: Stage): void => stage.sendRetry(messageOf(17, 1));
  const unanswered = async (stage: Stage): Promise<void> => {
    retry(stage);
    await stage.show(stage.receive());
  };
  const discarded = async (stage: Stage): Promise<void> => {
    retry(stage);
    await stage.store.discard();
  };
  const retriedWhilePaused = async (stage: Stage): Promise<void> => {
    const [parked] = await stage.failing(17);
    if (parked) await stage.store.takeRetry(parked);
    await stage.store.setState('paused');
    retry(stage);
  };
  const [CALLED, NOT_CALLED, GONE] = [['17/1'], [], []];

  it.each<[string, (stage: Stage) => unknown, readonly string[], readonly object[]]>([
    ['not called for when its message comes again', (to) => to.send(messageOf(17, 1)), NOT_CALLED, [{}]],
    ['called for when it is sent again, and forgotten when that succeeds', retry, CALLED, GONE],
    ['called for again after a rewind', (to) => to.send(messageOf(17, 1, { replay: true })), CALLED, GONE],
    [
      'kept when a retry was received before and never answered',
      unanswered,
      NOT_CALLED,
      [{ attempts: 2, last_error: 'it ended before it answered' }],
    ],
    ['not called for when it was discarded, or done, before its retry came', discarded, NOT_CALLED, GONE],
    [
      'wanted again when its retry comes while the trigger is paused',
      retriedWhilePaused,
      NOT_CALLED,
      [{ retry: 'wanted', attempts: 1 }],
    ],
    [
      'not taken for another cell that got its added id after the log was cut',
      (to) => to.send(other('31T09:00:00')),
      CALLED,
      GONE,
    ],
    [
      'told from that other cell by what a cut counts, also when the new writer’s clock is an hour behind',
      (to) => to.send(other('31T07:00:00', { generation: 1 })),
      CALLED,
      GONE,
    ],
    [
      'not called for by a late message of the cell that is gone, when the other is the one that failed',
      (to) => to.send(other('30T09:00:00', { replay: true })),
      NOT_CALLED,
      [{}],
    ],
  ])('is %s', async (_how, comes, called, failing) => {
    const stage = await openWithParked();
    await comes(stage);
    expect(await stage.consume()).toEqual([]);
    expect(stage.called).toEqual(called);
    expect(await stage.failing(17)).toEqual(
      failing.map((cell) => expect.objectContaining({ parked_at: expect.any(String), ...cell })),
    );
    expect(stage.depth()).toBe(0);
  });

  it('stays parked when a retry fails, and holds up no other cell', async () => {
    const stage = await openWithParked(() => {
      throw new Error('still declined');
    });
    retry(stage);
    stage.send(messageOf(17, 1), messageOf(4, 1));
    expect(await stage.consume()).toEqual([]);
    expect(await stage.failing(17)).toEqual([
      expect.objectContaining({
        attempts: 2,
        last_error: expect.stringMatching(/^still declined at trigger-state\.test\.ts:\d+$/u),
        parked_at: expect.any(String),
      }),
    ]);
    expect(stage.depth()).toBe(0);
  });

  it('is the other one, whatever the new writer’s clock says, once that has failed', async () => {
    const stage = await openWithParked(decline);
    const later = other('31T07:00:00', { generation: 1 });
    stage.send(later);
    await stage.consume();
    stage.called.length = 0;
    stage.send(messageOf(17, 1, { replay: true }));
    await stage.consume();
    expect(stage.called).toEqual([]);
    const message = expect.objectContaining({ row_key: later.row_key });
    expect(await stage.failing(17)).toEqual([expect.objectContaining({ message })]);
  });
});

describe('while the state table is unavailable', () => {
  it('cells of shards in order are consumed; what failed goes back, and nothing is lost', async () => {
    let isUnavailable = false;
    let failures = 1;
    const stage = await open({
      settings: { statusMs: 0 },
      fn: () => (failures-- === 1 ? decline() : undefined),
      store: (store) => ({
        status: () => (isUnavailable ? noState() : store.status()),
        shards: (shards) => (isUnavailable ? noState() : store.shards(shards)),
        failed: (...parts) => (isUnavailable ? noState() : store.failed(...parts)),
        begin: (message) => (isUnavailable ? noState() : store.begin(message)),
        mark: (...parts) => (isUnavailable ? noState() : store.mark(...parts)),
        succeeded: (...parts) => (isUnavailable ? noState() : store.succeeded(...parts)),
        parkMalformed: (message) => (isUnavailable ? noState() : store.parkMalformed(message)),
      }),
    });
    stage.send(messageOf(4, 1));
    const first = stage.receive();
    await stage.consume(first);
    await stage.show(first);
    isUnavailable = true;
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(5, 1));
    stage.sendText('no JSON', '6');
    const records = stage.receive();
    expect((await stage.consume(records)).toSorted()).toEqual(['4/1', 'no JSON']);
    expect(stage.called).toEqual(['4/1', '17/1', '17/2', '5/1']);
    expect(stage.events).toContainEqual({ kind: 'state_unavailable', error: new Error('no DynamoDB') });
    expect(stage.hiddenFor('4/1')).toBe(2);

    isUnavailable = false;
    await stage.show(records);
    expect(await stage.consume()).toEqual([]);
    expect(stage.called.at(-1)).toBe('4/1');
    expect(await stage.store.malformed()).toHaveLength(1);
    expect(await stage.store.status()).toEqual({ state: 'running', troubled_blocks: [] });
  });

  it('nothing is consumed by a consumer that has never known the trigger', async () => {
    const stage = await open({ store: () => ({ status: noState }) });
    stage.send(messageOf(17, 1));
    expect(await stage.consume()).toEqual(['17/1']);
    expect(stage.called).toEqual([]);
  });
});

describe('while the queue is unavailable', () => {
  it('received messages are consumed, and those that go back do so when their time is over', async () => {
    const stage = await open({
      visibilitySeconds: 2,
      fn: (_rowKey, { added_id }) => (added_id === 2 ? decline() : undefined),
      queue: () => ({ setVisibility: () => Promise.reject(new Error('no SQS')) }),
    });
    stage.send(messageOf(17, 1), messageOf(17, 2), messageOf(17, 3), messageOf(4, 1));
    expect(await stage.consume()).toEqual(['17/2', '17/3']);
    expect(stage.called).toEqual(['17/1', '17/2', '4/1']);
    expect(stage.events).toContainEqual({ kind: 'queue_unavailable', error: new Error('no SQS') });
    expect(stage.receive(4)).toHaveLength(2);
  });
});

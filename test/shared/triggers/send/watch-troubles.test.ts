import { expect, it } from 'vitest';
import { TAIL_SETTINGS } from '../../../../shared/triggers/send/settings.ts';
import type { TailHappening } from '../../../../shared/triggers/send/tail-work.ts';
import { watchTroubles } from '../../../../shared/triggers/send/watch-troubles.ts';
import type { TriggerStore } from '../../../../shared/triggers/state/trigger-store.ts';
import { messageOf } from '../consume/support/stage.ts';
import { forEachTest } from '../state/support/each-trigger.ts';

let store: TriggerStore;
forEachTest((_, made) => (store = made));

it('says what waits for an operator for as long as it does', async () => {
  const happened: TailHappening[] = [];
  const settings = { ...TAIL_SETTINGS, lagEveryMs: 10 };
  const stop = new AbortController();
  const watching = watchTroubles({ store, settings, report: (one) => void happened.push(one) }, stop.signal);
  /** What is said from now on, once it was said twice. */
  const said = async (): Promise<unknown> => {
    const from = happened.length;
    await expect.poll(() => happened.length).toBeGreaterThan(from + 2);
    return happened.at(-1);
  };
  expect(await said()).toEqual({ kind: 'troubles', isStopped: false, parked: 0, malformed: 0 });

  await store.failed(messageOf(1, 1), 'no money', false);
  expect(await said()).toMatchObject({ parked: 0 });
  for (const addedId of [1, 2]) await store.park(messageOf(1, addedId), 'no money', 2);
  await store.parkMalformed({ message_id: 'a', body: '{', error: 'no JSON' });
  expect(await said()).toEqual({ kind: 'troubles', isStopped: true, parked: 2, malformed: 1 });
  expect(await said()).toMatchObject({ isStopped: true, parked: 2, malformed: 1 });

  await store.resume();
  expect(await said()).toMatchObject({ isStopped: false, parked: 2, malformed: 1 });
  await store.discard();
  expect(await said()).toEqual({ kind: 'troubles', isStopped: false, parked: 0, malformed: 0 });
  await store.setState('paused', 'on purpose');
  expect(await said()).toMatchObject({ isStopped: false });
  stop.abort();
  await watching;
});

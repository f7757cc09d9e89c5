import { expect, it } from 'vitest';
import { reportTroubles } from '../../../../shared/triggers/send/tail-trigger.ts';
import type { TriggerStore } from '../../../../shared/triggers/state/dynamo-trigger-store.ts';
import { messageOf } from '../consume/support/stage.ts';
import { forEachTest } from '../state/support/each-trigger.ts';

let store: TriggerStore;
forEachTest((_, made) => (store = made));

it('reports what waits for an operator for as long as it does', async () => {
  const reported = async (): Promise<unknown> => {
    const happened: unknown[] = [];
    await reportTroubles({ store, report: (one) => void happened.push(one) });
    return happened[0];
  };
  expect(await reported()).toEqual({ kind: 'troubles', isStopped: false, parked: 0, malformed: 0 });

  await store.failed(messageOf(1, 1), 'no money', false);
  expect(await reported()).toMatchObject({ parked: 0 });
  for (const addedId of [1, 2]) await store.park(messageOf(1, addedId), 'no money', 2);
  await store.parkMalformed({ message_id: 'a', body: '{', error: 'no JSON' });
  expect(await reported()).toEqual({ kind: 'troubles', isStopped: true, parked: 2, malformed: 1 });
  expect(await reported()).toMatchObject({ isStopped: true, parked: 2, malformed: 1 });

  await store.resume();
  expect(await reported()).toMatchObject({ isStopped: false, parked: 2, malformed: 1 });
  await store.discard();
  expect(await reported()).toEqual({ kind: 'troubles', isStopped: false, parked: 0, malformed: 0 });
  await store.setState('paused', 'on purpose');
  expect(await reported()).toMatchObject({ isStopped: false });
});

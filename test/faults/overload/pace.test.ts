import { expect, it } from 'vitest';
import { fakeTime, passes } from '../../support/fake-time.ts';
import { openLoop } from '../../support/pace.ts';

it('an open loop starts each request when it is due, the first at once', async () => {
  using _ = fakeTime();
  const lateMs: number[] = [];
  // Clock: the faked one.
  const send = (dueAt: number): void => void lateMs.push(performance.now() - dueAt);
  const loop = openLoop({ perSecond: 2, milliseconds: 1200, send });
  await passes(1300);
  await loop;
  expect(lateMs).toHaveLength(3);
  // A poll is 2 ms at most behind.
  expect(Math.max(...lateMs)).toBeLessThanOrEqual(2);
});

import { expect, it } from 'vitest';
import { openLoop } from '../../support/pace.ts';
import { TIMED } from '../../support/timed.ts';

it('an open loop starts each request when it is due, the first at once', TIMED, async () => {
  const lateMs: number[] = [];
  await openLoop({ perSecond: 2, milliseconds: 1200, send: (dueAt) => void lateMs.push(performance.now() - dueAt) });
  expect(lateMs).toHaveLength(3);
  // The next one would be due after 500.
  expect(Math.max(...lateMs)).toBeLessThan(400);
});

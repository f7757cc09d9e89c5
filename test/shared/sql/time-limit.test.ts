import { expect, it } from 'vitest';
import { GRACE_MS, timeLimit } from '../../../shared/sql/time-limit.ts';
import { fakeTimeOfEach, passes } from '../../support/fake-time.ts';

fakeTimeOfEach();

it('a statement has all of its time, whatever its connection did before, and fails once it is over', async () => {
  const limit = timeLimit(1000, { since: () => false });
  const late: boolean[] = [];
  limit.begin((wasPaused) => late.push(wasPaused));
  await passes(900);
  expect(limit.end()).toBe(true);
  await passes(500);
  limit.begin((wasPaused) => late.push(wasPaused));
  await passes(999);
  expect(late).toEqual([]);
  await passes(1);
  expect([late, limit.end()]).toEqual([[false], false]);
});

it('a process that paused gives an answer that came in the pause time to be read', async () => {
  const limit = timeLimit(1000, { since: () => true });
  const late: boolean[] = [];
  limit.begin((wasPaused) => late.push(wasPaused));
  await passes(1000 + GRACE_MS - 1);
  expect([late, limit.end()]).toEqual([[], true]);
  await passes(GRACE_MS);
  limit.begin((wasPaused) => late.push(wasPaused));
  await passes(1000 + GRACE_MS);
  expect(late).toEqual([true]);
});

import { expect, it } from 'vitest';
import { openLoop } from '../../support/pace.ts';

it('an open loop starts all requests at fixed times, none before it is due', async () => {
  const sent: { readonly dueAt: number; readonly at: number }[] = [];
  const send = (dueAt: number): number => sent.push({ dueAt, at: performance.now() }); // Clock: late is no failure.
  await openLoop({ perSecond: 100, milliseconds: 50, send });
  const [first] = sent;
  expect(sent.map(({ dueAt }) => Math.round(dueAt - (first?.dueAt ?? 0)))).toEqual([0, 10, 20, 30, 40]);
  expect(sent.filter(({ dueAt, at }) => at < dueAt)).toEqual([]);
});

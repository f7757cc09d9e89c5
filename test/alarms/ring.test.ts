import { expect, it } from 'vitest';
import type { AlarmWorld } from './alarm-world.ts';
import { MetricStore } from './metrics/metric-store.ts';
import { ring, type AlarmCase, type Fix } from './ring.ts';
import { NOON, someAlarm } from './some-alarm.ts';

const [one, other] = [someAlarm('one'), someAlarm('other')];

type Results = Map<string, (at: number) => number>;
const always = (age: number) => (): number => age;
let now = NOON;

async function rungBy(breaks: (results: Results) => Promise<Fix>, of: Partial<AlarmCase> = {}, before = 0) {
  const store = new MetricStore();
  const results: Results = new Map([
    ['one', always(before)],
    ['other', always(0)],
  ]);
  now = NOON;
  const wait = async (seconds: number): Promise<void> => {
    for (const [QueueName, ageAt] of results)
      store.add({ namespace: 'AWS/SQS', name: 'Age', dimensions: { QueueName } }, now, ageAt(now));
    now += seconds * 1000;
  };
  const world = { alarms: [one, other], signal: new AbortController().signal, wait } as unknown as AlarmWorld;
  await wait(64);
  const all = await ring(
    { world, store, say: () => undefined, now: () => now },
    { sections: ['trigger-behind'], fault: 'a fault', fix: 'a cure', breaks: () => breaks(results), ...of },
  );
  return all.map(({ rangAfter, silentAfter, error }) => ({ rangAfter, silentAfter, error }));
}

const breakOne = async (results: Results): Promise<Fix> => {
  results.set('one', always(901));
  return async () => results.set('one', always(0));
};
const NEITHER = { rangAfter: undefined, silentAfter: undefined };

it('an alarm rings after the fault and falls silent after the fix, with the seconds of both', async () => {
  // From the fourth second of a minute until it is over, and three seconds for values that come late.
  expect(await rungBy(breakOne)).toEqual([
    { rangAfter: 59, silentAfter: 120, error: undefined },
    { ...NEITHER, error: undefined },
  ]);
});

it('a case whose alarms must ring each ends without the one that does not, and takes no other for it', async () => {
  const [, second] = await rungBy(breakOne, { each: true, withinMinutes: 5 });
  expect(second).toEqual({ ...NEITHER, error: undefined });
});

it('an alarm that still rings after the fix is not silent', async () => {
  const [first] = await rungBy(async (results) => {
    results.set('one', always(901));
    return async () => undefined;
  });
  expect(first).toEqual({ rangAfter: 59, silentAfter: undefined, error: undefined });
});

it('an alarm is silent from the fix on, or from when it rings no more', async () => {
  const MINUTE_MS = 60_000;
  const [ended] = await rungBy(
    async (results) => {
      results.set('one', (at) => (at < NOON + 2 * MINUTE_MS ? 901 : 0));
      return async () => undefined;
    },
    { each: true, withinMinutes: 5 },
  );
  expect(ended).toEqual({ rangAfter: 59, silentAfter: 0, error: undefined });
  const [again] = await rungBy(async (results) => {
    results.set('one', always(901));
    results.set('other', always(901));
    return async () => {
      const cured = now;
      results.set('one', (at) => (at > cured + 2 * MINUTE_MS && at < cured + 3 * MINUTE_MS ? 901 : 0));
      results.set('other', (at) => (at < cured + 5 * MINUTE_MS ? 901 : 0));
    };
  });
  expect(again).toMatchObject({ rangAfter: 59, silentAfter: 300 });
});

it('an alarm that does not ring does not count as silenced', async () => {
  const [first] = await rungBy(async () => async () => undefined);
  expect(first).toEqual({ ...NEITHER, error: undefined });
});

it('an alarm that rings without the fault, and a fault or a fix that fails, are errors', async () => {
  const [before] = await rungBy(breakOne, {}, 901);
  expect(before).toMatchObject({ error: 'it rings without the fault' });
  const [broken] = await rungBy(() => Promise.reject(new Error('no such queue')));
  expect(broken).toMatchObject({ rangAfter: undefined, error: 'no such queue' });
  const [uncured] = await rungBy(async (results) => {
    results.set('one', always(901));
    return () => Promise.reject(new Error('no such node'));
  });
  expect(uncured).toMatchObject({ rangAfter: 59, error: 'no such node' });
});

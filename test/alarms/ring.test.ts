import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AlarmDefinition } from './alarm.ts';
import type { AlarmCase, Cure } from './alarm-case.ts';
import type { AlarmWorld } from './alarm-world.ts';
import { MetricStore } from './metrics/metric-store.ts';
import { ring, type Rung } from './ring.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const alarmOf = (trigger: string): AlarmDefinition => ({
  what: `trigger ${trigger} is behind`,
  section: 'trigger-behind',
  looksAt: { namespace: 'AWS/SQS', name: 'Age', dimensions: { QueueName: trigger }, statistic: 'Maximum' },
  periodSeconds: 60,
  comparison: 'GreaterThanThreshold',
  threshold: 900,
  evaluationPeriods: 1,
  datapointsToAlarm: 1,
  silenceIsBad: false,
});
const [one, other] = [alarmOf('one'), alarmOf('other')];

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOON }));
afterEach(() => void vi.useRealTimers());

/** What each queue's age is, now or at a time. */
type Figures = Map<string, number | ((at: number) => number)>;

/** A world in which figures are given each second, and time passes as soon as somebody waits. */
async function rungBy(
  breaks: (figures: Figures) => Promise<Cure>,
  of: Partial<AlarmCase> = {},
  before: Readonly<Record<string, number>> = {},
): Promise<readonly Pick<Rung, 'rangAfter' | 'silentAfter' | 'error'>[]> {
  const store = new MetricStore();
  const figures: Figures = new Map(Object.entries({ one: 0, other: 0, ...before }));
  const wait = async (seconds: number): Promise<void> => {
    for (const [QueueName, age] of figures)
      store.add({ namespace: 'AWS/SQS', name: 'Age', dimensions: { QueueName } }, Date.now(), ageAt(age));
    vi.setSystemTime(Date.now() + seconds * 1000);
  };
  const world = { alarms: [one, other], signal: new AbortController().signal, wait } as unknown as AlarmWorld;
  await wait(0);
  vi.setSystemTime(NOON + 64_000);
  const named = {
    sections: ['trigger-behind'],
    fault: 'a fault',
    cure: 'a cure',
    breaks: () => breaks(figures),
    ...of,
  };
  const all = await ring({ world, store, say: () => undefined }, named);
  return all.map(({ rangAfter, silentAfter, error }) => ({ rangAfter, silentAfter, error }));
}

const ageAt = (age: number | ((at: number) => number)): number => (typeof age === 'number' ? age : age(Date.now()));

const breakOne = async (figures: Figures): Promise<Cure> => {
  figures.set('one', 901);
  return async () => figures.set('one', 0);
};
const NEITHER = { rangAfter: undefined, silentAfter: undefined };

it('an alarm rings by the fault and falls silent by the cure, and what took how long is told', async () => {
  // From the fourth second of a minute until it is over, and three seconds for figures that come late.
  expect(await rungBy(breakOne)).toEqual([
    { rangAfter: 59, silentAfter: 120, error: undefined },
    { ...NEITHER, error: undefined },
  ]);
});

it('where each has to ring, one of its kind is not waited for in vain for ever, nor taken for the other', async () => {
  const [, second] = await rungBy(breakOne, { each: true, withinMinutes: 5 });
  expect(second).toEqual({ ...NEITHER, error: undefined });
});

it('one that the cure does not silence is not silent', async () => {
  const [first] = await rungBy(async (figures) => {
    figures.set('one', 901);
    return async () => undefined;
  });
  expect(first).toEqual({ rangAfter: 59, silentAfter: undefined, error: undefined });
});

it('one that falls silent by itself is silent from the cure on, and one that rings again from when it rings no more', async () => {
  const MINUTE_MS = 60_000;
  const [ended] = await rungBy(
    async (figures) => {
      figures.set('one', (at) => (at < NOON + 2 * MINUTE_MS ? 901 : 0));
      return async () => undefined;
    },
    { each: true, withinMinutes: 5 },
  );
  expect(ended).toEqual({ rangAfter: 59, silentAfter: 0, error: undefined });
  const [again] = await rungBy(async (figures) => {
    figures.set('one', 901);
    figures.set('other', 901);
    return async () => {
      const cured = Date.now();
      figures.set('one', (at) => (at > cured + 2 * MINUTE_MS && at < cured + 3 * MINUTE_MS ? 901 : 0));
      figures.set('other', (at) => (at < cured + 5 * MINUTE_MS ? 901 : 0));
    };
  });
  expect(again).toMatchObject({ rangAfter: 59, silentAfter: 300 });
});

it('one that does not ring has fallen silent of nothing', async () => {
  const [first] = await rungBy(async () => async () => undefined);
  expect(first).toEqual({ ...NEITHER, error: undefined });
});

it('one that rings before the fault proves nothing, and a fault or a cure that fails is told', async () => {
  const [before] = await rungBy(breakOne, {}, { one: 901 });
  expect(before).toMatchObject({ error: 'it rings without the fault' });
  const [broken] = await rungBy(() => Promise.reject(new Error('no such queue')));
  expect(broken).toMatchObject({ rangAfter: undefined, error: 'no such queue' });
  const [uncured] = await rungBy(async (figures) => {
    figures.set('one', 901);
    return () => Promise.reject(new Error('no such node'));
  });
  expect(uncured).toMatchObject({ rangAfter: 59, error: 'no such node' });
});

import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runSchedules, type RunningSchedules } from '../../../../infra/local/template/run-schedules.ts';
import type { ScheduleDefinition } from '../../../../infra/local/template/resources/schedule.ts';

const EVERY_MS = 60_000;
const schedule = (name: string, slot?: number): ScheduleDefinition => ({
  name,
  everyMs: EVERY_MS,
  functionArn: slot === undefined ? 'drain' : 'tail',
  roleArn: 'role',
  input: slot === undefined ? undefined : JSON.stringify({ slot }),
  slot,
});

const SCHEDULES = [schedule('drain'), schedule('tail-0', 0), schedule('tail-1', 1)];

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());
const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * EVERY_MS);

interface Started {
  readonly running: RunningSchedules;
  readonly calls: () => readonly string[];
}

function started(slots?: number): Started {
  const calls: string[] = [];
  const running = runSchedules({
    invoke: async (arn, event) => (calls.push(arn === 'tail' ? event : arn), 'null'),
    onError: () => {},
  });
  onTestFinished(() => running.stop());
  running.take({ schedules: SCHEDULES, slots });
  return { running, calls: () => calls.splice(0) };
}

describe('schedules', () => {
  it('call a function that does not end twice, and no third time, and say so once', async () => {
    const told: string[] = [];
    const ends: ((answer: string) => void)[] = [];
    const running = runSchedules({
      invoke: () => new Promise((resolve) => ends.push(resolve)),
      onError: (message) => told.push(message),
    });
    running.take({ schedules: [schedule('drain')] });
    await minutes(5);
    expect(told).toEqual(['drain: not called, since 2 calls of it have not ended']);
    expect(ends).toHaveLength(2);
    ends[0]?.('null');
    await minutes(2);
    expect(ends).toHaveLength(3);
    running.stop();
  });

  it('start all at once, and again at their rate until they are stopped', async () => {
    const { running, calls } = started();
    const all = ['drain', '{"slot":0}', '{"slot":1}'];
    expect(calls()).toEqual(all);
    await minutes(2);
    expect(calls()).toEqual([...all, ...all]);
    running.stop();
    await minutes(2);
    expect(calls()).toEqual([]);
  });

  it('run as many slots as are wanted, from the start on or later, and leave others alone', async () => {
    const { running, calls } = started(1);
    expect(calls()).toEqual(['drain', '{"slot":0}']);
    running.setSlots(3);
    expect([running.slots, calls()]).toEqual([3, ['{"slot":1}', '{"slot":2}']]);
    running.setSlots(1);
    await minutes(1);
    expect([running.slots, calls()]).toEqual([1, ['drain', '{"slot":0}']]);
  });

  it('keep their time when others are applied, but for those of functions that have changed', () => {
    const { running, calls } = started();
    calls();
    running.take({ schedules: SCHEDULES, slots: 2 });
    expect(calls()).toEqual([]);
    running.take({ schedules: SCHEDULES, slots: 2, changed: new Set(['drain']) });
    expect(calls()).toEqual(['drain']);
    running.take({ schedules: [schedule('repair'), ...SCHEDULES.slice(1)], slots: 2 });
    expect(calls()).toEqual(['drain']);
    running.take({ schedules: [schedule('repair')] });
    expect(running.slots).toBe(0);
  });
});

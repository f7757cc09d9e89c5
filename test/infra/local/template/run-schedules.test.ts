import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runSchedules, type RunningSchedules } from '../../../../infra/local/template/run-schedules.ts';
import type { ScheduleDefinition } from '../../../../infra/local/template/resources/schedule.ts';

const schedule = (name: string, slot?: number): ScheduleDefinition => ({
  name,
  everyMs: 40,
  functionArn: slot === undefined ? 'drain' : 'tail',
  roleArn: 'role',
  input: slot === undefined ? undefined : JSON.stringify({ slot }),
  slot,
});

const SCHEDULES = [schedule('drain'), schedule('tail-0', 0), schedule('tail-1', 1)];

function started(slots?: number): { readonly running: RunningSchedules; readonly calls: string[] } {
  const calls: string[] = [];
  const running = runSchedules({
    async invoke(arn, event) {
      calls.push(arn === 'tail' ? event : arn);
      return 'null';
    },
    onError: () => {},
  });
  running.take({ schedules: SCHEDULES, slots });
  return { running, calls };
}

describe('schedules', () => {
  it('call a function that does not end twice, and no third time, and say so once', async () => {
    const told: string[] = [];
    const ends: (() => void)[] = [];
    let calls = 0;
    const running = runSchedules({
      invoke() {
        calls += 1;
        return new Promise((resolve) => ends.push(() => resolve('null')));
      },
      onError: (message) => told.push(message),
    });
    running.take({ schedules: [schedule('drain')] });
    await expect.poll(() => told).toEqual(['drain: not called, since 2 calls of it have not ended']);
    await sleep(200);
    expect([calls, told.length]).toEqual([2, 1]);
    ends.shift()?.();
    await expect.poll(() => calls).toBe(3);
    running.stop();
  });

  it('start all at once, and again at their rate until they are stopped', async () => {
    const { running, calls } = started();
    expect(calls).toEqual(['drain', '{"slot":0}', '{"slot":1}']);
    await expect.poll(() => calls.filter((call) => call === 'drain').length).toBeGreaterThan(2);
    running.stop();
    const made = calls.length;
    await sleep(100);
    expect(calls).toHaveLength(made);
  });

  it('run as many slots as are wished for, from the start on or later, and leave others alone', async () => {
    const { running, calls } = started(1);
    expect(calls).toEqual(['drain', '{"slot":0}']);
    running.setSlots(3);
    expect(running.slots).toBe(3);
    expect(calls).toEqual(['drain', '{"slot":0}', '{"slot":1}', '{"slot":2}']);
    running.setSlots(1);
    expect(running.slots).toBe(1);
    calls.length = 0;
    await expect.poll(() => calls.length).toBeGreaterThan(3);
    expect(new Set(calls)).toEqual(new Set(['drain', '{"slot":0}']));
    running.stop();
  });

  it('go on in their time when others are taken over, but for those of functions that have changed', () => {
    const { running, calls } = started();
    calls.length = 0;
    running.take({ schedules: SCHEDULES, slots: 2 });
    expect(calls).toEqual([]);
    running.take({ schedules: SCHEDULES, slots: 2, changed: new Set(['drain']) });
    expect(calls).toEqual(['drain']);
    running.take({ schedules: [schedule('repair'), ...SCHEDULES.slice(1)], slots: 2 });
    expect(calls).toEqual(['drain', 'drain']);
    running.take({ schedules: [schedule('repair')] });
    expect(running.slots).toBe(0);
    running.stop();
  });
});

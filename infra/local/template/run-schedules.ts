import { randomUUID } from 'node:crypto';
import type { ScheduleDefinition } from './resources/schedule.ts';
import { PSEUDO } from './template.ts';

export interface RunSchedulesOptions {
  readonly schedules: readonly ScheduleDefinition[];
  /** How many of the schedules with a slot run, counted from slot 0. @default as many as there are */
  readonly slots?: number | undefined;
  /** Calls a function by ARN with JSON text. */
  readonly invoke: (functionArn: string, event: string) => Promise<string>;
  /** Told what went wrong. */
  readonly onError: (message: string) => void;
}

export interface RunningSchedules {
  /** Of those with a slot, how many run. */
  readonly slots: number;
  /** Starts and ends schedules with a slot, so that slots 0 to `count` - 1 run; of calls under way none is ended. */
  setSlots(count: number): void;
  stop(): void;
}

/**
 * Calls the function of each schedule at once, and then at its rate. As in the cloud, a call does not wait for the one
 * before it: functions that loop keep themselves apart with their own lease. A call that fails is not repeated.
 *
 * Schedules that hand over a slot (`{"slot": 2}`) start workers that are alike: there can be more or fewer of them than
 * the template says.
 */
export function runSchedules({ schedules, slots, invoke, onError }: RunSchedulesOptions): RunningSchedules {
  const always = schedules.filter(({ slot }) => slot === undefined).map(start);
  const slotted = schedules.filter(({ slot }) => slot !== undefined);
  // One of each function: the others differ in nothing but the slot.
  const models = slotted.filter(
    ({ functionArn }, index) => slotted.findIndex((other) => other.functionArn === functionArn) === index,
  );
  const ofSlots = new Map<number, readonly NodeJS.Timeout[]>();

  function start(schedule: ScheduleDefinition): NodeJS.Timeout {
    const fire = (): void => {
      invoke(schedule.functionArn, schedule.input ?? scheduledEvent(schedule)).catch((error: unknown) => {
        onError(`${schedule.name}: ${error instanceof Error ? error.message : String(error)}`);
      });
    };
    fire();
    return setInterval(fire, schedule.everyMs);
  }

  function setSlots(count: number): void {
    if (models.length === 0) return;
    for (const [slot, timers] of ofSlots) {
      if (slot < count) continue;
      for (const timer of timers) clearInterval(timer);
      ofSlots.delete(slot);
    }
    for (let slot = 0; slot < count; slot += 1) {
      if (!ofSlots.has(slot))
        ofSlots.set(
          slot,
          models.map((model) =>
            start({ ...model, slot, input: JSON.stringify({ ...Object(JSON.parse(model.input ?? '{}')), slot }) }),
          ),
        );
    }
  }

  setSlots(slots ?? new Set(slotted.map(({ slot }) => slot)).size);
  return {
    get slots() {
      return ofSlots.size;
    },
    setSlots,
    stop: () => {
      for (const timer of [...always, ...ofSlots.values()].flat()) clearInterval(timer);
    },
  };
}

function scheduledEvent({ name }: ScheduleDefinition): string {
  return JSON.stringify({
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.scheduler',
    account: PSEUDO.account,
    time: new Date().toISOString(),
    region: PSEUDO.region,
    resources: [name],
    detail: '{}',
  });
}

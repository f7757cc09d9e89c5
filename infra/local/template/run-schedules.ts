import { randomUUID } from 'node:crypto';
import { accessKeyOf } from '../iam/access-key.ts';
import { readRights, type RightsByKey } from '../iam/rights.ts';
import type { ScheduleDefinition } from './resources/schedule.ts';
import { PSEUDO } from '../arn.ts';

/** One that works, and one that takes over from it. */
const MOST_UNDER_WAY = 2;

interface RunSchedulesOptions {
  /** Calls a function by ARN with JSON text. */
  readonly invoke: (functionArn: string, event: string) => Promise<string>;
  /** Told what went wrong. */
  readonly onError: (message: string) => void;
}

interface WantedSchedules {
  readonly schedules: readonly ScheduleDefinition[];
  /** How many of the schedules with a slot run, counted from slot 0. @default as many as there are */
  readonly slots?: number | undefined;
  /** ARNs of the functions that are not what they were: theirs are started at once. */
  readonly changed?: ReadonlySet<string>;
}

export interface RunningSchedules {
  /** Of those with a slot, how many run. */
  readonly slots: number;
  /**
   * Runs these from now on, in place of others. Those that go on keep their time, unless their function has changed: a
   * call that is under way ends by itself, when the one that was started takes over.
   */
  take(wanted: WantedSchedules): void;
  /** What schedules may start, each by the role that it has. @default everything */
  setRights(rights: RightsByKey): Promise<void>;
  /** Starts and ends schedules with a slot, so that slots 0 to `count` - 1 run; of calls under way none is ended. */
  setSlots(count: number): void;
  stop(): void;
}

/**
 * Calls the function of each schedule at once, and then at its rate. As in the cloud, a call does not wait for the one
 * before it: functions that loop keep themselves apart with their own lease. A call that fails is not repeated. Where two
 * calls are under way a third is left out, and that is told: on a machine that is too busy for one to take over from the
 * other, more of them would make it busier still. Nor is a function called that the role of the schedule may not start.
 *
 * Schedules that hand over a slot (`{"slot": 2}`) start workers that are alike: there can be more or fewer of them than
 * the template says.
 */
export function runSchedules({ invoke, onError }: RunSchedulesOptions): RunningSchedules {
  let wanted: readonly ScheduleDefinition[] = [];
  let slots = 0;
  let rights = readRights({});
  /** By all that is said of a schedule. */
  const running = new Map<string, NodeJS.Timeout>();

  function start(schedule: ScheduleDefinition): NodeJS.Timeout {
    let underWay = 0;
    let isTold = false;
    const fire = (): void => {
      if (underWay >= MOST_UNDER_WAY) {
        if (!isTold) onError(`${schedule.name}: not called, since ${underWay} calls of it have not ended`);
        isTold = true;
        return;
      }
      isTold = false;
      const call = { action: 'lambda:InvokeFunction', resource: schedule.functionArn };
      const why = rights.whyRefused(accessKeyOf(schedule.name), call);
      if (why !== undefined) return onError(`${schedule.name}: ${why}`);
      underWay += 1;
      invoke(schedule.functionArn, schedule.input ?? scheduledEvent(schedule))
        .catch((error: unknown) =>
          onError(`${schedule.name}: ${error instanceof Error ? error.message : String(error)}`),
        )
        .finally(() => (underWay -= 1));
    };
    fire();
    return setInterval(fire, schedule.everyMs);
  }

  function run(changed: ReadonlySet<string>): void {
    const toRun = new Map(withSlots(wanted, slots).map((schedule) => [JSON.stringify(schedule), schedule]));
    for (const [key, timer] of running) {
      const schedule = toRun.get(key);
      if (schedule && !changed.has(schedule.functionArn)) continue;
      clearInterval(timer);
      running.delete(key);
    }
    for (const [key, schedule] of toRun) if (!running.has(key)) running.set(key, start(schedule));
  }

  return {
    get slots() {
      return slots;
    },
    take(next) {
      wanted = next.schedules;
      const said = slotsOf(wanted);
      slots = said === 0 ? 0 : (next.slots ?? said);
      run(next.changed ?? new Set());
    },
    async setRights(byKey) {
      rights = readRights(byKey);
    },
    setSlots(count) {
      if (slotsOf(wanted) === 0) return;
      slots = count;
      run(new Set());
    },
    stop: () => {
      for (const timer of running.values()) clearInterval(timer);
      running.clear();
    },
  };
}

function slotsOf(schedules: readonly ScheduleDefinition[]): number {
  return new Set(schedules.flatMap(({ slot }) => slot ?? [])).size;
}

/** The schedules without a slot, and for each function that has some with a slot as many of them as there are slots. */
function withSlots(schedules: readonly ScheduleDefinition[], slots: number): readonly ScheduleDefinition[] {
  const always = schedules.filter(({ slot }) => slot === undefined);
  const slotted = schedules.filter(({ slot }) => slot !== undefined);
  // One of each function: the others differ in nothing but the slot.
  const models = slotted.filter(
    ({ functionArn }, index) => slotted.findIndex((other) => other.functionArn === functionArn) === index,
  );
  const numbers = Array.from({ length: slots }, (_, slot) => slot);
  return [
    ...always,
    ...numbers.flatMap((slot) =>
      models.map((model) => ({
        ...model,
        slot,
        input: JSON.stringify({ ...Object(JSON.parse(model.input ?? '{}')), slot }),
      })),
    ),
  ];
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

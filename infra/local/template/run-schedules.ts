import { randomUUID } from 'node:crypto';
import { accessKeyOf } from '../iam/access-key.ts';
import { readRights, type RightsByKey } from '../iam/rights.ts';
import type { ScheduleDefinition } from './resources/schedule.ts';
import { PSEUDO } from '../arn.ts';
import { messageOf } from '../message-of.ts';

/** A working call and its successor. */
const MOST_UNDER_WAY = 2;

interface RunSchedulesOptions {
  readonly invoke: (functionArn: string, event: string) => Promise<string>;
  readonly onError: (message: string) => void;
}

interface WantedSchedules {
  readonly schedules: readonly ScheduleDefinition[];
  /** How many slots run, from 0 on. Undefined: all. */
  readonly slots?: number | undefined;
  /** ARNs of changed functions: their schedules start at once. */
  readonly changed?: ReadonlySet<string>;
}

export type RunningSchedules = ReturnType<typeof runSchedules>;

/**
 * Calls each schedule's function at once, then at its rate. As in the cloud, calls overlap and failed ones are not
 * repeated; functions take leases. A third concurrent call is skipped and logged, as is one that the schedule's role
 * does not allow.
 *
 * Schedules with a slot (`{"slot": 2}`) start equal workers, and their number can change.
 */
export function runSchedules({ invoke, onError }: RunSchedulesOptions) {
  let wanted: readonly ScheduleDefinition[] = [];
  let slots = 0;
  let rights = readRights({});
  /** By the whole definition. */
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
        .catch((error: unknown) => onError(`${schedule.name}: ${messageOf(error)}`))
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
    /** Runs these schedules instead. Kept ones keep their time unless the function changed. */
    take(next: WantedSchedules) {
      wanted = next.schedules;
      const defaultSlots = slotsOf(wanted);
      slots = defaultSlots === 0 ? 0 : (next.slots ?? defaultSlots);
      run(next.changed ?? new Set());
    },
    /** Sets what schedules may start; before that, everything. */
    async setRights(byKey: RightsByKey) {
      rights = readRights(byKey);
    },
    /** Runs slots 0 to `count` - 1; no open call is ended. */
    setSlots(count: number) {
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

/** Returns the schedules without a slot, and each slotted function's schedule for every running slot. */
function withSlots(schedules: readonly ScheduleDefinition[], slots: number): readonly ScheduleDefinition[] {
  const always = schedules.filter(({ slot }) => slot === undefined);
  const slotted = schedules.filter(({ slot }) => slot !== undefined);
  // One for each function: they differ in the slot alone.
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

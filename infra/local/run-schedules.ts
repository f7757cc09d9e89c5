import { randomUUID } from 'node:crypto';
import type { ScheduleDefinition } from './resources/schedule.ts';
import { PSEUDO } from './template/template.ts';

export interface RunningSchedules {
  stop(): void;
}

/**
 * Calls the function of each schedule at once, and then at its rate. As in the cloud, a call does not wait for the one
 * before it: functions that loop keep themselves apart with their own lease. A call that fails is not repeated.
 *
 * @param invoke calls a function by ARN with JSON text
 * @param onError told what went wrong
 */
export function runSchedules(
  schedules: readonly ScheduleDefinition[],
  invoke: (functionArn: string, event: string) => Promise<string>,
  onError: (message: string) => void,
): RunningSchedules {
  const timers = schedules.map((schedule) => {
    const fire = (): void => {
      invoke(schedule.functionArn, schedule.input ?? scheduledEvent(schedule)).catch((error: unknown) => {
        onError(`${schedule.name}: ${error instanceof Error ? error.message : String(error)}`);
      });
    };
    fire();
    return setInterval(fire, schedule.everyMs);
  });
  return {
    stop: () => {
      for (const timer of timers) clearInterval(timer);
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

import type { AlarmDefinition } from './alarm.ts';

/** The beginning of a minute. */
export const NOON = Date.UTC(2026, 0, 1, 12);

/** Returns an alarm that by default rings if a minute's oldest message of a queue is older than 900 s. */
export function someAlarm(what: string, more: Partial<AlarmDefinition> = {}): AlarmDefinition {
  return {
    what,
    section: 'trigger-behind',
    checks: { namespace: 'AWS/SQS', name: 'Age', dimensions: { QueueName: what }, statistic: 'Maximum' },
    periodSeconds: 60,
    comparison: 'GreaterThanThreshold',
    threshold: 900,
    evaluationPeriods: 1,
    datapointsToAlarm: 1,
    silenceIsBad: false,
    ...more,
  };
}

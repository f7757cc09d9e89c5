import type { AlarmDefinition } from './alarm.ts';

/** The beginning of a minute. */
export const NOON = Date.UTC(2026, 0, 1, 12);

/** An alarm that rings when a minute's oldest message of a queue is older than 900 s, unless said otherwise. */
export function someAlarm(what: string, more: Partial<AlarmDefinition> = {}): AlarmDefinition {
  return {
    what,
    section: 'trigger-behind',
    looksAt: { namespace: 'AWS/SQS', name: 'Age', dimensions: { QueueName: what }, statistic: 'Maximum' },
    periodSeconds: 60,
    comparison: 'GreaterThanThreshold',
    threshold: 900,
    evaluationPeriods: 1,
    datapointsToAlarm: 1,
    silenceIsBad: false,
    ...more,
  };
}

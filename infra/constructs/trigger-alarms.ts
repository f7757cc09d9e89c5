import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS } from '../../shared/metrics.ts';
import { FIVE_MINUTES, type Alarms } from './alarms.ts';
import type { StoreMetrics } from './store-metrics.ts';
import type { TriggerQueue } from './trigger-queue.ts';

const OLDEST_MESSAGE_SECONDS = 900;

export function addTriggerAlarms(alarms: Alarms, { sum, most }: StoreMetrics): void {
  alarms.add('trigger-stopped', {
    what: 'a trigger is stopped, since too many of its cells were parked',
    metric: most(METRICS.triggerStoppedNow),
    above: 0,
  });
  alarms.add('trigger-parked', {
    what: 'cells of a trigger are parked',
    metric: most(METRICS.triggerParkedNow),
    above: 0,
  });
  alarms.add('trigger-malformed', {
    what: 'a queue held messages that are not ours, which are kept',
    metric: most(METRICS.triggerMalformedNow),
    above: 0,
  });
  alarms.add('trigger-send-failed', {
    what: 'cells cannot be sent to a queue',
    metric: sum(METRICS.triggerSendFailed),
    above: 0,
    periods: 5,
  });
}

export function addQueueAlarms(alarms: Alarms, { datastore, definition, queue, parked }: TriggerQueue): void {
  const name = `${datastore}-${definition.name}`;
  alarms.add(`${name}-oldest`, {
    section: 'trigger-behind',
    what: `trigger ${definition.name} of ${datastore} is a quarter of an hour behind`,
    metric: queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period: FIVE_MINUTES }),
    above: OLDEST_MESSAGE_SECONDS,
  });
  alarms.add(`${name}-given-up`, {
    section: 'trigger-given-up',
    what: `SQS gave up on messages of trigger ${definition.name} of ${datastore}: GET /v1/${datastore}/triggers/${definition.name}/dead lists them`,
    metric: parked.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period: FIVE_MINUTES }),
    above: 0,
  });
}

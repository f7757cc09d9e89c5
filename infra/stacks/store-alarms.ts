import { Duration } from 'aws-cdk-lib';
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { METRICS } from '../../shared/metrics.ts';
import type { EnvironmentProps } from '../environments.ts';
import { addAlarm } from './alarms.ts';
import { storeMetrics, type StoreMetrics } from './store-metrics.ts';
import type { TriggerQueue } from './trigger-queue.ts';

export interface StoreAlarmsProps {
  readonly environment: EnvironmentProps;
  readonly api: HttpApi;
  /** All of them, by the name of their file. */
  readonly functions: Readonly<Record<string, IFunction>>;
  /** Those that run all the time, each started anew each minute. */
  readonly loops: readonly string[];
  readonly triggers: readonly TriggerQueue[];
}

const FIVE_MINUTES = Duration.minutes(5);
/** Longer than a failover and the drain behind it take: then somebody has to look. */
const OLDEST_BUFFERED_SECONDS = 300;
/**
 * Inline index writes keep entries within milliseconds; what only the repair does may wait this many cells for a
 * quarter of an hour.
 */
const MOST_INDEX_LAG = 100_000;
/** A tailer that died is succeeded within seconds, a trigger that is behind sends thousands of cells a second. */
const OLDEST_UNSENT_SECONDS = 300;
/** A failing cell is parked before, unless its function takes very long. */
const OLDEST_UNCONSUMED_SECONDS = 900;
const MOST_CIRCUITS = 3;
/** Of all requests, in percent. */
const MOST_SERVER_ERRORS = 1;
const MOST_LATENCY_MS = 3000;
const OLDEST_MESSAGE_SECONDS = 900;

/** The alarms of functions, API and triggers. */
export function addStoreAlarms(
  scope: Construct,
  { environment, api, functions, loops, triggers }: StoreAlarmsProps,
): void {
  const alarms = new Construct(scope, 'alarms');
  const metrics = storeMetrics(environment.name);
  addBufferAlarms(alarms, metrics);
  addLogAlarms(alarms, metrics);
  addApiAlarms(alarms, api);
  addFunctionAlarms(alarms, functions);
  if (environment.schedules) addLoopAlarms(alarms, functions, loops);
  addTriggerAlarms(alarms, metrics);
  addQueueAlarms(alarms, triggers);
}

/** Of writes that wait for groups, and of groups that are down. */
function addBufferAlarms(alarms: Construct, { sum, most }: StoreMetrics): void {
  addAlarm(alarms, 'buffer-oldest', {
    section: 'buffer-oldest',
    what: 'a buffered write waits for its primary, or for one of its readers, for over five minutes',
    metric: most(METRICS.bufferOldestSeconds),
    above: OLDEST_BUFFERED_SECONDS,
  });
  addAlarm(alarms, 'buffer-parked', {
    section: 'buffer-parked',
    what: 'buffered writes that cannot be appended were set aside',
    metric: most(METRICS.bufferParked),
    above: 0,
  });
  addAlarm(alarms, 'buffer-conflicts', {
    section: 'buffer-conflicts',
    what: 'buffered writes lost against another body',
    metric: most(METRICS.bufferConflicts),
    above: 0,
  });
  addAlarm(alarms, 'buffer-undecided', {
    section: 'buffer-undecided',
    what: 'two bodies may have been acknowledged for one address, and its shard takes no appends until one is chosen',
    metric: most(METRICS.bufferUndecided),
    above: 0,
  });
  addAlarm(alarms, 'circuits', {
    section: 'circuits',
    what: 'functions find nodes down again and again',
    metric: sum(METRICS.circuitOpened),
    above: MOST_CIRCUITS,
    periods: 3,
  });
}

/** Of the logs, and of those who follow them. */
function addLogAlarms(alarms: Construct, { sum, most }: StoreMetrics): void {
  addAlarm(alarms, 'index-lag', {
    section: 'index-lag',
    what: 'the repair of indexes is far behind',
    metric: most(METRICS.indexLagCells),
    above: MOST_INDEX_LAG,
    periods: 15,
  });
  addAlarm(alarms, 'trigger-lag', {
    section: 'trigger-lag',
    what: 'cells wait for over a quarter of an hour to be consumed',
    metric: most(METRICS.triggerLagSeconds),
    above: OLDEST_UNCONSUMED_SECONDS,
    periods: 3,
  });
  addAlarm(alarms, 'trigger-unsent', {
    section: 'trigger-unsent',
    what: 'cells wait for over five minutes to be sent to a queue',
    metric: most(METRICS.triggerUnsentSeconds),
    above: OLDEST_UNSENT_SECONDS,
    periods: 3,
  });
  addAlarm(alarms, 'log-hole', {
    section: 'log-hole',
    what: 'a log has a hole that does not close',
    metric: sum(METRICS.logHole),
    above: 0,
  });
  addAlarm(alarms, 'log-cut', {
    section: 'log-cut',
    what: 'a log lost cells that were sent to triggers',
    metric: sum(METRICS.logCut),
    above: 0,
  });
}

function addApiAlarms(alarms: Construct, api: HttpApi): void {
  addAlarm(alarms, 'server-errors', {
    section: 'server-errors',
    what: `more than ${MOST_SERVER_ERRORS} % of the requests are not served`,
    metric: new MathExpression({
      expression: '100 * errors / requests',
      usingMetrics: {
        errors: api.metricServerError({ statistic: Stats.SUM, period: FIVE_MINUTES }),
        requests: api.metricCount({ statistic: Stats.SUM, period: FIVE_MINUTES }),
      },
      period: FIVE_MINUTES,
      label: 'requests not served, percent',
    }),
    above: MOST_SERVER_ERRORS,
  });
  addAlarm(alarms, 'latency', {
    section: 'latency',
    what: 'one request in a hundred takes seconds',
    metric: api.metricLatency({ statistic: Stats.p(99), period: FIVE_MINUTES }),
    above: MOST_LATENCY_MS,
    periods: 3,
  });
}

function addFunctionAlarms(alarms: Construct, functions: StoreAlarmsProps['functions']): void {
  for (const [name, called] of Object.entries(functions)) {
    addAlarm(alarms, `${name}-errors`, {
      section: 'function-errors',
      what: `${name} fails`,
      metric: called.metricErrors({ statistic: Stats.SUM, period: FIVE_MINUTES }),
      above: 0,
      periods: 2,
    });
    addAlarm(alarms, `${name}-throttles`, {
      section: 'function-throttles',
      what: `${name} is called more often than it may run`,
      metric: called.metricThrottles({ statistic: Stats.SUM, period: FIVE_MINUTES }),
      above: 0,
      periods: 2,
    });
  }
}

function addLoopAlarms(
  alarms: Construct,
  functions: StoreAlarmsProps['functions'],
  loops: StoreAlarmsProps['loops'],
): void {
  for (const name of loops) {
    const loop = functions[name];
    if (!loop) throw new Error(`alarms: wanted a function ${name}, got ${Object.keys(functions).join(', ')}`);
    addAlarm(alarms, `${name}-stopped`, {
      section: 'loop-stopped',
      what: `${name} is not started any more`,
      metric: loop.metricInvocations({ statistic: Stats.SUM, period: FIVE_MINUTES }),
      below: 1,
      periods: 2,
      silenceIsBad: true,
    });
  }
}

/** Of all triggers together. */
function addTriggerAlarms(alarms: Construct, { sum }: StoreMetrics): void {
  addAlarm(alarms, 'trigger-stopped', {
    section: 'trigger-stopped',
    what: 'a trigger stopped, since too many of its cells were parked',
    metric: sum(METRICS.triggerStopped),
    above: 0,
  });
  addAlarm(alarms, 'trigger-parked', {
    section: 'trigger-parked',
    what: 'cells of a trigger were parked',
    metric: sum(METRICS.triggerParked),
    above: 0,
  });
  addAlarm(alarms, 'trigger-malformed', {
    section: 'trigger-malformed',
    what: 'a queue holds messages that are not ours',
    metric: sum(METRICS.triggerMalformed),
    above: 0,
  });
  addAlarm(alarms, 'trigger-send-failed', {
    section: 'trigger-send-failed',
    what: 'cells cannot be sent to a queue',
    metric: sum(METRICS.triggerSendFailed),
    above: 0,
    periods: 5,
  });
}

/** Of each trigger's own queues. */
function addQueueAlarms(alarms: Construct, triggers: readonly TriggerQueue[]): void {
  for (const { datastore, definition, queue, parked } of triggers) {
    const name = `${datastore}-${definition.name}`;
    addAlarm(alarms, `${name}-oldest`, {
      section: 'trigger-behind',
      what: `trigger ${definition.name} of ${datastore} is a quarter of an hour behind`,
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period: FIVE_MINUTES }),
      above: OLDEST_MESSAGE_SECONDS,
    });
    addAlarm(alarms, `${name}-given-up`, {
      section: 'trigger-given-up',
      what: `SQS gave up on messages of trigger ${definition.name} of ${datastore}: GET /v1/${datastore}/triggers/${definition.name}/dead lists them`,
      metric: parked.metricApproximateNumberOfMessagesVisible({ statistic: Stats.MAXIMUM, period: FIVE_MINUTES }),
      above: 0,
    });
  }
}

import { Duration } from 'aws-cdk-lib';
import { type Alarm, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Function as LambdaFunction, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { EXPORT_DIMENSION, METRIC_NAMESPACE, METRICS } from '../../shared/metrics.ts';
import type { StoreEnvironment } from './store-environment.ts';
import { Alarms, FIVE_MINUTES, HIGHEST, SUMMED, storeMetrics, type StoreMetrics } from './alarms.ts';
import type { SchemalessStorage } from './storage.ts';
import type { TriggerQueue } from './trigger-queue.ts';

interface ScheduledExport {
  readonly datastore: string;
  readonly location: string;
  readonly every: Duration;
}

/** The next run makes up for a failed one. */
const RUNS_BEHIND = 3;
/** Longer than a failover and its drain. */
const OLDEST_BUFFERED_SECONDS = 300;
/** Only repaired entries wait; inline writes take milliseconds. */
const MOST_INDEX_LAG = 100_000;
/** A dead tailer's successor starts within seconds. */
const OLDEST_UNSENT_SECONDS = 300;
const OLDEST_ERASURE_SECONDS = 900;
/** Runs at least once a day; a group unavailable for an hour is no reason to look. */
const LATEST_RETENTION_SECONDS = 21_600;
/** A failing cell is parked earlier, unless its function is very slow. */
const OLDEST_UNCONSUMED_SECONDS = 900;
const MOST_CIRCUITS = 3;
const MOST_SERVER_ERRORS = 1;
/** Two bad ones are over within the shortest canary, and a failover is at most one. */
const OF_SERVER_ERRORS = { statistic: Stats.SUM, period: Duration.minutes(3) };
/** A failed request among a few is no reason to wake people, or to roll back. */
const ENOUGH = 'requests > 100 || errors > 5';
const MOST_LATENCY_MS = 3000;
/** Percent. An account with `prod`'s reservations and AWS's hundred is at 80. */
const MOST_CLAIMED = 90;

export class StoreAlarms extends Alarms {
  readonly serverErrors: Alarm;
  private readonly environment: StoreEnvironment;

  constructor(scope: Construct, id: string, { environment, alarmTopics }: SchemalessStorage, api: HttpApi) {
    super(scope, id, alarmTopics);
    this.environment = environment;
    const metrics = storeMetrics(environment.name);
    addBufferAlarms(this, metrics);
    addLogAlarms(this, metrics);
    this.serverErrors = addApiAlarms(this, api, metrics);
    addAccountAlarm(this);
    addTriggerAlarms(this, metrics);
  }

  /** Fewer starts of a function than those of all its slots but one, of which each starts once a minute. */
  addLoop(name: string, loop: IFunction, slots = 1): void {
    if (!this.environment.schedules) return;
    this.add(`${name}-stopped`, {
      section: 'loop-stopped',
      what: `${slots > 1 ? 'a slot of ' : ''}${name} is not started any more`,
      metric: loop.metricInvocations(SUMMED),
      below: FIVE_MINUTES.toMinutes() * (slots - 1) + 1,
      periods: 2,
      silenceIsBad: true,
    });
  }

  addExport(name: string, { datastore, location, every }: ScheduledExport): void {
    this.add(`${name}-behind`, {
      section: 'export-behind',
      what: `the export of ${datastore} fails, is not started, or is behind by more than three runs`,
      metric: new Metric({
        namespace: METRIC_NAMESPACE,
        metricName: METRICS.exportBehindSeconds,
        dimensionsMap: { service: this.environment.name, [EXPORT_DIMENSION]: location },
        statistic: Stats.MAXIMUM,
        period: every,
      }),
      above: RUNS_BEHIND * every.toSeconds(),
      periods: RUNS_BEHIND,
      // A failed run reports nothing.
      silenceIsBad: true,
    });
  }

  addTrigger({ datastore, definition, queue, parked }: TriggerQueue): void {
    const name = `${datastore}-${definition.name}`;
    this.add(`${name}-oldest`, {
      section: 'trigger-behind',
      what: `trigger ${definition.name} of ${datastore} is a quarter of an hour behind`,
      metric: queue.metricApproximateAgeOfOldestMessage(HIGHEST),
      above: OLDEST_MESSAGE_SECONDS,
    });
    this.add(`${name}-given-up`, {
      section: 'trigger-given-up',
      what: `SQS gave up on messages of trigger ${definition.name} of ${datastore}: GET /v1/${datastore}/triggers/${definition.name}/dead lists them`,
      metric: parked.metricApproximateNumberOfMessagesVisible(HIGHEST),
    });
  }
}

function addBufferAlarms(alarms: Alarms, { sum, most }: StoreMetrics): void {
  alarms.add('buffer-oldest', {
    what: 'a buffered write waits for its primary, or for one of its readers, for over five minutes',
    metric: most(METRICS.bufferOldestSeconds),
    above: OLDEST_BUFFERED_SECONDS,
  });
  alarms.add('buffer-parked', {
    what: 'buffered writes that cannot be appended were set aside',
    metric: most(METRICS.bufferParked),
  });
  alarms.add('buffer-conflicts', {
    what: 'buffered writes lost against another body',
    metric: most(METRICS.bufferConflicts),
  });
  alarms.add('buffer-in-doubt', {
    what: 'two bodies may have been acknowledged for one address, and its shard takes no appends until one is chosen',
    metric: most(METRICS.bufferInDoubt),
  });
  alarms.add('circuits', {
    what: 'functions find nodes down again and again',
    metric: sum(METRICS.circuitOpened),
    above: MOST_CIRCUITS,
    periods: 3,
  });
}

function addLogAlarms(alarms: Alarms, { sum, most }: StoreMetrics): void {
  alarms.add('index-lag', {
    what: 'the repair of indexes is far behind',
    metric: most(METRICS.indexLagCells),
    above: MOST_INDEX_LAG,
    periods: 15,
  });
  alarms.add('trigger-lag', {
    what: 'cells wait for over a quarter of an hour to be consumed',
    metric: most(METRICS.triggerLagSeconds),
    above: OLDEST_UNCONSUMED_SECONDS,
    periods: 3,
  });
  alarms.add('trigger-unsent', {
    what: 'cells wait for over five minutes to be sent to a queue',
    metric: most(METRICS.triggerUnsentSeconds),
    above: OLDEST_UNSENT_SECONDS,
    periods: 3,
  });
  alarms.add('move-errors', {
    what: 'a move of a shard has failed for ten minutes, longer than a failover takes',
    // Retries have growing pauses.
    metric: sum(METRICS.moveErrors).with({ period: FIVE_MINUTES }),
    periods: 2,
  });
  alarms.add('erasures-open', {
    what: 'an erasure has not been done for over a quarter of an hour',
    metric: most(METRICS.erasuresOldestSeconds),
    above: OLDEST_ERASURE_SECONDS,
    periods: 3,
  });
  alarms.add('retention-behind', {
    what: 'erasing what is out of its retention is overdue by over six hours',
    metric: most(METRICS.retentionBehindSeconds),
    above: LATEST_RETENTION_SECONDS,
    periods: 3,
  });
  alarms.add('log-hole', { what: 'a log has a hole that does not close', metric: sum(METRICS.logHole) });
  alarms.add('log-cut', { what: 'a log lost cells that were sent to triggers', metric: sum(METRICS.logCut) });
}

/** Unserved requests and latency. 503 for an index that is being built must not roll back a deployment. */
function addApiAlarms(alarms: Alarms, api: HttpApi, { sum }: StoreMetrics): Alarm {
  const serverErrors = alarms.add('server-errors', {
    what: `more than ${MOST_SERVER_ERRORS} % of the requests are not served`,
    metric: new MathExpression({
      // Usually no index is being built, and the metric is missing.
      expression: `IF(${ENOUGH}, 100 * (errors - FILL(building, 0)) / requests, 0)`,
      usingMetrics: {
        errors: api.metricServerError(OF_SERVER_ERRORS),
        building: sum(METRICS.answeredIndexBuilding).with(OF_SERVER_ERRORS),
        requests: api.metricCount(OF_SERVER_ERRORS),
      },
      period: OF_SERVER_ERRORS.period,
      label: 'requests not served, percent',
    }),
    above: MOST_SERVER_ERRORS,
    periods: 2,
    among: 3,
  });
  alarms.add('latency', {
    what: 'one request in a hundred takes seconds',
    metric: api.metricLatency({ statistic: Stats.p(99), period: FIVE_MINUTES }),
    above: MOST_LATENCY_MS,
    periods: 3,
  });
  return serverErrors;
}

/**
 * Functions without reserved instances share the account's rest. Formula: "Monitoring concurrency" in AWS Lambda's
 * guide; quota L-B99A9384 is read from `ConcurrentExecutions`.
 */
function addAccountAlarm(alarms: Alarms): void {
  alarms.add('account-concurrency', {
    what: `over ${MOST_CLAIMED} % of the function instances that the account may have are in use or reserved`,
    metric: new MathExpression({
      expression: '100 * claimed / SERVICE_QUOTA(concurrent)',
      usingMetrics: {
        claimed: new Metric({ namespace: 'AWS/Lambda', metricName: 'ClaimedAccountConcurrency', ...HIGHEST }),
        concurrent: LambdaFunction.metricAllConcurrentExecutions(HIGHEST),
      },
      period: FIVE_MINUTES,
      label: 'instances in use or reserved, percent of the quota',
    }),
    above: MOST_CLAIMED,
    periods: 2,
  });
}

const OLDEST_MESSAGE_SECONDS = 900;

function addTriggerAlarms(alarms: Alarms, { sum, most }: StoreMetrics): void {
  alarms.add('trigger-stopped', {
    what: 'a trigger is stopped, since too many of its cells were parked',
    metric: most(METRICS.triggerStoppedNow),
  });
  alarms.add('trigger-parked', { what: 'cells of a trigger are parked', metric: most(METRICS.triggerParkedNow) });
  alarms.add('trigger-malformed', {
    what: 'a queue held messages that are not ours, which are kept',
    metric: most(METRICS.triggerMalformedNow),
  });
  alarms.add('trigger-send-failed', {
    what: 'cells cannot be sent to a queue',
    metric: sum(METRICS.triggerSendFailed),
    periods: 5,
  });
}

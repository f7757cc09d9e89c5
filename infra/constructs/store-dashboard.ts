import { Aws, Duration } from 'aws-cdk-lib';
import {
  Dashboard,
  GraphWidget,
  Stats,
  type IMetric,
  type IWidget,
  type MetricOptions,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { DatabaseCluster } from 'aws-cdk-lib/aws-rds';
import type { Construct } from 'constructs';
import { METRICS } from '../../shared/metrics.ts';
import type { SchemalessStorage } from './storage.ts';
import type { ShardGroup } from './shard-group.ts';
import { storeMetrics, type StoreMetrics } from './alarms.ts';
import type { TriggerQueue } from './trigger-queue.ts';

const OPTIONS = { period: Duration.minutes(1) };
const OUTCOMES = [
  'stored',
  'stored_before',
  'buffered',
  'conflict',
  'erased',
  'subject_forgotten',
  'unavailable',
] as const;

/** An environment on one page: requests, writes, buffer, groups, triggers. */
export class StoreDashboard {
  private readonly failures = graph('Functions: errors and throttles', []);
  private readonly oldest = graph('Triggers: oldest message, s', []);

  constructor(scope: Construct, id: string, { environment, groups }: SchemalessStorage, api: HttpApi) {
    const metrics = storeMetrics(environment.name);
    // Dashboard names are unique in the account, across regions.
    const dashboard = new Dashboard(scope, id, { dashboardName: `Schemaless-${environment.name}-${Aws.REGION}` });
    dashboard.addWidgets(...requestGraphs(api, metrics));
    dashboard.addWidgets(...bufferGraphs(metrics), this.failures);
    dashboard.addWidgets(...groupGraphs(groups), ...proxyGraphs(groups));
    dashboard.addWidgets(...triggerGraphs(this.oldest, metrics), ...logGraphs(metrics));
  }

  addFunction(name: string, called: IFunction): void {
    this.failures.addLeftMetric(called.metricErrors({ ...OPTIONS, label: `${name} errors` }));
    this.failures.addLeftMetric(called.metricThrottles({ ...OPTIONS, label: `${name} throttles` }));
  }

  addTrigger({ queue, definition }: TriggerQueue): void {
    this.oldest.addLeftMetric(queue.metricApproximateAgeOfOldestMessage({ ...OPTIONS, label: definition.name }));
  }
}

function requestGraphs(api: HttpApi, { sum }: StoreMetrics): readonly IWidget[] {
  return [
    graph('Requests', [
      api.metricCount({ ...OPTIONS, statistic: Stats.SUM }),
      api.metricClientError({ ...OPTIONS, statistic: Stats.SUM }),
      api.metricServerError({ ...OPTIONS, statistic: Stats.SUM }),
    ]),
    graph(
      'Latency of requests, ms',
      ['p50', 'p99'].map((statistic) => api.metricLatency({ ...OPTIONS, statistic, label: statistic })),
    ),
    graph('Writes by outcome', OUTCOMES.map(sum)),
  ];
}

function bufferGraphs({ sum, most }: StoreMetrics): readonly IWidget[] {
  return [
    graph(
      'Buffered writes',
      [METRICS.bufferRows, METRICS.bufferParked, METRICS.bufferConflicts, METRICS.bufferInDoubt].map(most),
      [most(METRICS.bufferOldestSeconds)],
    ),
    graph('Circuits that opened', [sum(METRICS.circuitOpened)]),
  ];
}

function groupGraphs(groups: readonly ShardGroup[]): readonly IWidget[] {
  const of = (title: string, metricOf: (cluster: DatabaseCluster, options: MetricOptions) => IMetric): IWidget =>
    graph(
      `Groups: ${title}`,
      groups.map(({ name, cluster }) => metricOf(cluster, { ...OPTIONS, label: name })),
    );
  return [
    of('CPU, %', (cluster, options) => cluster.metricCPUUtilization(options)),
    of('capacity used, %', (cluster, options) => cluster.metricACUUtilization(options)),
    of('connections', (cluster, options) => cluster.metricDatabaseConnections(options)),
    of('lag of readers, ms', (cluster, options) => cluster.metric('AuroraReplicaLagMaximum', options)),
  ];
}

/** Proxies' connections to writers: in use, and pinned to one client. */
function proxyGraphs(groups: readonly ShardGroup[]): readonly IWidget[] {
  const proxies = groups.flatMap(({ name, proxy }) => (proxy ? [{ name, proxy }] : []));
  if (proxies.length === 0) return [];
  const all = (metricName: string): readonly IMetric[] =>
    proxies.map(({ name, proxy }) =>
      proxy.metricTo('writer', metricName, { ...OPTIONS, statistic: Stats.SUM, label: name }),
    );
  return [
    graph('Proxies: connections to writers', all('DatabaseConnections')),
    graph('Proxies: connections that are pinned', all('DatabaseConnectionsCurrentlySessionPinned')),
  ];
}

function triggerGraphs(oldest: IWidget, { sum, most }: StoreMetrics): readonly IWidget[] {
  return [
    graph(
      'Triggers: cells',
      [METRICS.triggerSent, METRICS.triggerConsumed, METRICS.triggerFailed, METRICS.triggerParked].map(sum),
    ),
    oldest,
    graph('Triggers: how far sending is behind', [most(METRICS.triggerLagCells)], [most(METRICS.triggerLagSeconds)]),
  ];
}

function logGraphs({ sum, most }: StoreMetrics): readonly IWidget[] {
  return [
    graph('Indexes: how far the repair is behind, and what it wrote', [
      most(METRICS.indexLagCells),
      sum(METRICS.indexRepaired),
    ]),
    graph('Moves of shards', [most(METRICS.moves), sum(METRICS.moveErrors)]),
    graph('Erasures that are not done, and the age of the oldest', [
      most(METRICS.erasuresOpen),
      most(METRICS.erasuresOldestSeconds),
    ]),
    graph(
      'Bodies erased by retention, and by how many seconds that is overdue',
      [sum(METRICS.retentionErased)],
      [most(METRICS.retentionBehindSeconds)],
    ),
    graph('Logs: holes and cuts', [sum(METRICS.logHole), sum(METRICS.logCut)]),
  ];
}

function graph(title: string, left: readonly IMetric[], right: readonly IMetric[] = []): GraphWidget {
  return new GraphWidget({ title, left: [...left], right: [...right], width: 8 });
}

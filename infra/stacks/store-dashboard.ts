import { Duration } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, Stats, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { METRICS } from '../../shared/metrics.ts';
import type { EnvironmentProps } from '../environments.ts';
import type { ShardGroup } from './shard-group.ts';
import { storeMetrics, type StoreMetrics } from './store-metrics.ts';
import type { TriggerQueue } from './trigger-queue.ts';

export interface StoreDashboardProps {
  readonly environment: EnvironmentProps;
  readonly api: HttpApi;
  readonly functions: Readonly<Record<string, IFunction>>;
  readonly groups: readonly ShardGroup[];
  readonly triggers: readonly TriggerQueue[];
}

const OPTIONS = { period: Duration.minutes(1) };
const OUTCOMES = ['stored', 'stored_before', 'buffered', 'conflict', 'unavailable'] as const;

/**
 * What happens in an environment, on one page: those who ask, what became of writes, the buffer, the groups, the
 * triggers.
 */
export function addDashboard(
  scope: Construct,
  { environment, api, functions, groups, triggers }: StoreDashboardProps,
): Dashboard {
  const metrics = storeMetrics(environment.name);
  const dashboard = new Dashboard(scope, 'dashboard', { dashboardName: `Schemaless-${environment.name}` });
  dashboard.addWidgets(...requestGraphs(api, metrics));
  dashboard.addWidgets(...bufferGraphs(functions, metrics));
  dashboard.addWidgets(...groupGraphs(groups));
  dashboard.addWidgets(...logGraphs(triggers, metrics));
  return dashboard;
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

/** What waits for groups, and what fails. */
function bufferGraphs(functions: StoreDashboardProps['functions'], { sum, most }: StoreMetrics): readonly IWidget[] {
  return [
    graph(
      'Buffered writes',
      [METRICS.bufferRows, METRICS.bufferParked, METRICS.bufferConflicts, METRICS.bufferUndecided].map(most),
      [most(METRICS.bufferOldestSeconds)],
    ),
    graph('Circuits that opened', [sum(METRICS.circuitOpened)]),
    graph(
      'Functions: errors and throttles',
      Object.entries(functions).flatMap(([name, called]) => [
        called.metricErrors({ ...OPTIONS, label: `${name} errors` }),
        called.metricThrottles({ ...OPTIONS, label: `${name} throttles` }),
      ]),
    ),
  ];
}

function groupGraphs(groups: readonly ShardGroup[]): readonly IWidget[] {
  return [
    graph(
      'Groups: CPU, %',
      groups.map(({ name, cluster }) => cluster.metricCPUUtilization({ ...OPTIONS, label: name })),
    ),
    graph(
      'Groups: capacity used, %',
      groups.map(({ name, cluster }) => cluster.metricACUUtilization({ ...OPTIONS, label: name })),
    ),
    graph(
      'Groups: connections',
      groups.map(({ name, cluster }) => cluster.metricDatabaseConnections({ ...OPTIONS, label: name })),
    ),
    graph(
      'Groups: lag of readers, ms',
      groups.map(({ name, cluster }) => cluster.metric('AuroraReplicaLagMaximum', { ...OPTIONS, label: name })),
    ),
  ];
}

/** The logs, and those who follow them: triggers, and the repair of indexes. */
function logGraphs(triggers: readonly TriggerQueue[], { sum, most }: StoreMetrics): readonly IWidget[] {
  return [
    graph(
      'Triggers: cells',
      [METRICS.triggerSent, METRICS.triggerConsumed, METRICS.triggerFailed, METRICS.triggerParked].map(sum),
    ),
    graph(
      'Triggers: oldest message, s',
      triggers.map(({ queue, definition }) =>
        queue.metricApproximateAgeOfOldestMessage({ ...OPTIONS, label: definition.name }),
      ),
    ),
    graph('Triggers: how far sending is behind', [most(METRICS.triggerLagCells)], [most(METRICS.triggerLagSeconds)]),
    graph('Indexes: how far the repair is behind, and what it wrote', [
      most(METRICS.indexLagCells),
      sum(METRICS.indexRepaired),
    ]),
    graph('Logs: holes and cuts', [sum(METRICS.logHole), sum(METRICS.logCut)]),
  ];
}

function graph(title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget {
  return new GraphWidget({ title, left: [...left], right: [...right], width: 8 });
}

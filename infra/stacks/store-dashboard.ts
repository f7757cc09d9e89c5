import { Duration } from 'aws-cdk-lib';
import { Dashboard, GraphWidget, Stats, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { METRICS } from '../../shared/metrics.ts';
import type { EnvironmentProps } from '../environments.ts';
import type { ShardGroup } from './shard-group.ts';
import { storeMetric } from './store-metrics.ts';
import type { TriggerQueue } from './trigger-queue.ts';

export interface StoreDashboardProps {
  readonly environment: EnvironmentProps;
  readonly api: HttpApi;
  readonly functions: Readonly<Record<string, IFunction>>;
  readonly groups: readonly ShardGroup[];
  readonly triggers: readonly TriggerQueue[];
}

const MINUTE = Duration.minutes(1);
const OUTCOMES = ['stored', 'stored_before', 'buffered', 'conflict', 'unavailable'] as const;

/**
 * What happens in an environment, on one page: those who ask, what became of writes, the buffer, the groups, the
 * triggers.
 */
export function addDashboard(
  scope: Construct,
  { environment, api, functions, groups, triggers }: StoreDashboardProps,
): Dashboard {
  const sum = (name: string): IMetric => storeMetric(environment.name, name, Stats.SUM);
  const most = (name: string): IMetric => storeMetric(environment.name, name, Stats.MAXIMUM);
  const ofGroups = (metricOf: (group: ShardGroup) => IMetric): IMetric[] => groups.map(metricOf);
  const options = { period: MINUTE };

  const dashboard = new Dashboard(scope, 'dashboard', { dashboardName: `Schemaless-${environment.name}` });
  dashboard.addWidgets(
    graph('Requests', [
      api.metricCount({ ...options, statistic: Stats.SUM }),
      api.metricClientError({ ...options, statistic: Stats.SUM }),
      api.metricServerError({ ...options, statistic: Stats.SUM }),
    ]),
    graph(
      'Latency of requests, ms',
      ['p50', 'p99'].map((statistic) => api.metricLatency({ ...options, statistic, label: statistic })),
    ),
    graph('Writes by outcome', OUTCOMES.map(sum)),
  );
  dashboard.addWidgets(
    graph(
      'Buffered writes',
      [
        most(METRICS.bufferRows),
        most(METRICS.bufferParked),
        most(METRICS.bufferConflicts),
        most(METRICS.bufferUndecided),
      ],
      [most(METRICS.bufferOldestSeconds)],
    ),
    graph('Circuits that opened', [sum(METRICS.circuitOpened)]),
    graph(
      'Functions: errors and throttles',
      Object.entries(functions).flatMap(([name, called]) => [
        called.metricErrors({ ...options, label: `${name} errors` }),
        called.metricThrottles({ ...options, label: `${name} throttles` }),
      ]),
    ),
  );
  dashboard.addWidgets(
    graph(
      'Groups: CPU, %',
      ofGroups(({ name, cluster }) => cluster.metricCPUUtilization({ ...options, label: name })),
    ),
    graph(
      'Groups: capacity used, %',
      ofGroups(({ name, cluster }) => cluster.metricACUUtilization({ ...options, label: name })),
    ),
    graph(
      'Groups: connections',
      ofGroups(({ name, cluster }) => cluster.metricDatabaseConnections({ ...options, label: name })),
    ),
    graph(
      'Groups: lag of readers, ms',
      ofGroups(({ name, cluster }) => cluster.metric('AuroraReplicaLagMaximum', { ...options, label: name })),
    ),
  );
  dashboard.addWidgets(
    graph(
      'Triggers: cells',
      [METRICS.triggerSent, METRICS.triggerConsumed, METRICS.triggerFailed, METRICS.triggerParked].map(sum),
    ),
    graph(
      'Triggers: oldest message, s',
      triggers.map(({ queue, definition }) =>
        queue.metricApproximateAgeOfOldestMessage({ ...options, label: definition.name }),
      ),
    ),
    graph('Triggers: how far sending is behind', [most(METRICS.triggerLagCells)], [most(METRICS.triggerLagSeconds)]),
    graph('Indexes: how far the repair is behind, and what it wrote', [
      most(METRICS.indexLagCells),
      sum(METRICS.indexRepaired),
    ]),
    graph('Logs: holes and cuts', [sum(METRICS.logHole), sum(METRICS.logCut)]),
  );
  return dashboard;
}

function graph(title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget {
  return new GraphWidget({ title, left: [...left], right: [...right], width: 8 });
}

import { Duration } from 'aws-cdk-lib';
import { MathExpression, Stats, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { StoreEnvironment } from './store-environment.ts';
import { type AlarmTopics, Alarms, FIVE_MINUTES, HIGHEST, SUMMED } from './alarms.ts';
import type { GroupProxy } from './group-proxy.ts';
import { connectionsOf } from './connection-budget.ts';
import type { ShardGroup } from './shard-group.ts';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { StateTables } from './state-tables.ts';

const MOST_PERCENT = 85;
const MOST_CONNECTIONS_SHARE = 0.8;
/** Aurora reports 0 for enough memory, 5 for little, 10 for critical. */
const MEMORY_ENOUGH = 0;
/** Percent of the time. A failover takes half a minute of a period; one of two readers is half. */
const LEAST_AVAILABLE = 90;
/** Readers on shared storage lag by tens of milliseconds. */
const MOST_LAG_MS = 1000;

export function addGroupAlarms(
  scope: Construct,
  { name, cluster, proxy }: ShardGroup,
  environment: StoreEnvironment,
  topics: AlarmTopics,
): void {
  const alarms = new Alarms(scope, `${name}-alarms`, topics);
  alarms.add('capacity', {
    section: 'group-capacity',
    what: `${name} is at the end of its capacity`,
    metric: cluster.metricACUUtilization(HIGHEST),
    above: MOST_PERCENT,
    periods: 3,
  });
  alarms.add('cpu', {
    section: 'group-cpu',
    what: `the processors of ${name} are busy`,
    metric: cluster.metricCPUUtilization(HIGHEST),
    above: MOST_PERCENT,
    periods: 3,
  });
  alarms.add('connections', {
    section: 'group-connections',
    what: `${name} has nearly as many connections as it takes`,
    metric: cluster.metricDatabaseConnections(HIGHEST),
    above: Math.floor(MOST_CONNECTIONS_SHARE * connectionsOf(environment.capacity.max)),
    periods: 2,
    among: 3,
  });
  alarms.add('memory', {
    section: 'group-memory',
    what: `a node of ${name} is short of memory`,
    metric: cluster.metric('AuroraMemoryHealthState', HIGHEST),
    above: MEMORY_ENOUGH,
    periods: 3,
  });
  const hasReaders = environment.readersPerGroup > 0;
  if (proxy) addProxyAlarms(alarms, name, proxy, hasReaders);
  if (!hasReaders) return;
  alarms.add('reader-lag', {
    what: `a reader of ${name} lags`,
    metric: cluster.metric('AuroraReplicaLagMaximum', { statistic: Stats.MAXIMUM, period: Duration.minutes(1) }),
    above: MOST_LAG_MS,
    periods: 5,
  });
}

function addProxyAlarms(alarms: Alarms, name: string, proxy: GroupProxy, hasReaders: boolean): void {
  alarms.add('proxy-logins', {
    what: `the proxy of ${name} refuses logins`,
    metric: proxy.metric('ClientConnectionsSetupFailedAuth', SUMMED),
    // A changed password is refused once or twice.
    periods: 3,
  });
  for (const role of hasReaders ? (['writer', 'readers'] as const) : (['writer'] as const))
    alarms.add(`proxy-${role}-available`, {
      section: 'proxy-availability',
      what: `the proxy of ${name} does not reach its ${role}`,
      metric: proxy.metricTo(role, 'AvailabilityPercentage', { statistic: Stats.AVERAGE, period: FIVE_MINUTES }),
      below: LEAST_AVAILABLE,
      periods: 2,
    });
  // A proxy's machines report separately.
  const all = (metricName: string): Metric => proxy.metricTo('writer', metricName, SUMMED);
  alarms.add('proxy-pool', {
    what: `the proxy of ${name} has nearly as many connections to its writer as it may`,
    metric: new MathExpression({
      expression: '100 * connections / allowed',
      usingMetrics: { connections: all('DatabaseConnections'), allowed: all('MaxDatabaseConnectionsAllowed') },
      period: FIVE_MINUTES,
      label: 'connections of the proxy, percent of those it may have',
    }),
    above: MOST_PERCENT,
    periods: 2,
  });
}

export function addTableAlarms(scope: Construct, { topology, state, keys }: StateTables, topics: AlarmTopics): void {
  const alarms = new Alarms(scope, 'tables-alarms', topics);
  for (const [name, table] of Object.entries({ topology, state, keys }))
    alarms.add(`${name}-throttles`, {
      section: 'table-throttles',
      what: `DynamoDB throttles requests of the ${name} table`,
      metric: throttlesOf(table),
      // DynamoDB scales within minutes.
      periods: 2,
    });
}

/** DynamoDB reports an operation only if it throttled. */
function throttlesOf(table: Table): MathExpression {
  const events = (name: string): Metric => table.metric(name, SUMMED);
  return new MathExpression({
    expression: 'FILL(reads, 0) + FILL(writes, 0)',
    usingMetrics: { reads: events('ReadThrottleEvents'), writes: events('WriteThrottleEvents') },
    period: FIVE_MINUTES,
    label: 'requests throttled',
  });
}

import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, GetMetricStatisticsCommand } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient, GetQueryResultsCommand, StartQueryCommand } from '@aws-sdk/client-cloudwatch-logs';
import { CostExplorerClient, GetCostAndUsageCommand } from '@aws-sdk/client-cost-explorer';
import { DescribeDBClustersCommand, FailoverDBClusterCommand, RDSClient } from '@aws-sdk/client-rds';
import { setTimeout as sleep } from 'node:timers/promises';
import { VERSION_TAG } from '../../infra/constructs/store-environment.ts';
import { NotAsked, type Account } from './account.ts';
import type { Result } from './page.ts';

const POLL_MS = 1000;
/** CloudWatch shows log lines and metrics after this time. */
const LATE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Of one query. */
const MOST_LOGS = 50;
/** The region that serves the bills of all regions. */
const BILLING_REGION = 'us-east-1';

/**
 * Asks AWS by its SDK, with the default chain of credentials.
 *
 * @param environment as its stacks are named: `Schemaless-prod-service`
 */
export function accountBySdk(region: string, environment: string): Account {
  const config = { region };
  const [stacks, logs, metrics, rds] = [
    new CloudFormationClient(config),
    new CloudWatchLogsClient(config),
    new CloudWatchClient(config),
    new RDSClient(config),
  ];
  let found: Promise<readonly StackResourceSummary[]> | undefined;

  /** Ids of the environment's resources of a type. */
  async function idsOf(type: string): Promise<readonly string[]> {
    found ??= resourcesOf(stacks, environment);
    return (await found).flatMap(({ ResourceType, PhysicalResourceId }) =>
      ResourceType === type && PhysicalResourceId !== undefined ? [PhysicalResourceId] : [],
    );
  }

  return {
    async check(url) {
      const StackName = `Schemaless-${environment}-service`;
      const { Stacks = [] } = await stacks.send(new DescribeStacksCommand({ StackName }));
      const printed = Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'url')?.OutputValue;
      if (printed !== url)
        throw new Error(
          `--environment: wanted the one whose API is ${url}, got ${environment}, whose API is ${printed}`,
        );
    },

    async coldStarts(since) {
      await sleep(LATE_MS);
      // RDS names its own logs.
      const logGroupNames = (await idsOf('AWS::Logs::LogGroup')).filter((name) => !name.startsWith('/aws/rds/'));
      if (logGroupNames.length > MOST_LOGS)
        throw new Error(`there are ${logGroupNames.length} logs, of which ${MOST_LOGS} can be asked at once`);
      const { queryId } = await logs.send(
        new StartQueryCommand({
          logGroupNames,
          startTime: Math.floor(since.getTime() / 1000),
          endTime: Math.ceil(Date.now() / 1000),
          queryString:
            'filter @type = "REPORT" and ispresent(@initDuration) | stats count() as starts, pct(@initDuration, 50) as p50, max(@initDuration) as most by @log | sort starts desc',
        }),
      );
      for (;;) {
        const { status, results = [] } = await logs.send(new GetQueryResultsCommand({ queryId }));
        if (status === 'Complete')
          return results.map((fields): Result => {
            const value = (name: string): string => fields.find(({ field }) => field === name)?.value ?? '';
            return {
              what: value('@log').replace(/^\d+:/u, ''),
              result: `${value('starts')}; ${Number(value('p50')).toFixed(0)} ms, at most ${Number(value('most')).toFixed(0)}`,
            };
          });
        if (status !== 'Running' && status !== 'Scheduled') throw new Error(`CloudWatch Logs: the query is ${status}`);
        await sleep(POLL_MS);
      }
    },

    async pinned(since) {
      const proxies = await idsOf('AWS::RDS::DBProxy');
      if (proxies.length === 0) return [{ what: 'proxies', result: 'none: functions reach the clusters otherwise' }];
      return Promise.all(
        proxies.map(async (ProxyName): Promise<Result> => {
          const { Datapoints = [] } = await metrics.send(
            new GetMetricStatisticsCommand({
              Namespace: 'AWS/RDS',
              MetricName: 'DatabaseConnectionsCurrentlySessionPinned',
              Dimensions: [{ Name: 'ProxyName', Value: ProxyName }],
              StartTime: since,
              EndTime: new Date(),
              Period: 60,
              // Each host of a proxy says how many it has.
              Statistics: ['Sum'],
            }),
          );
          const most = Math.max(0, ...Datapoints.map(({ Sum = 0 }) => Sum));
          return { what: ProxyName, result: Datapoints.length === 0 ? 'none reported' : `${most} connections at most` };
        }),
      );
    },

    async bill() {
      const day = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
      const { ResultsByTime = [] } = await new CostExplorerClient({ region: BILLING_REGION }).send(
        new GetCostAndUsageCommand({
          TimePeriod: { Start: day(1), End: day(0) },
          Granularity: 'DAILY',
          Metrics: ['UnblendedCost'],
          GroupBy: [{ Type: 'DIMENSION', Key: 'SERVICE' }],
          Filter: { Not: { Tags: { Key: VERSION_TAG, MatchOptions: ['ABSENT'] } } },
        }),
      );
      const costs = ResultsByTime.flatMap(({ Groups = [] }) => Groups).map(({ Keys = [], Metrics }) => ({
        service: Keys.join(' '),
        usd: Number(Metrics?.['UnblendedCost']?.Amount ?? 0),
      }));
      if (costs.length === 0)
        throw new NotAsked(
          `nothing is known of ${day(1)} (UTC): it takes a day, and the tag ${VERSION_TAG} has to be activated as a cost allocation tag`,
        );
      const sum = costs.reduce((total, { usd }) => total + usd, 0);
      return [
        ...costs
          .toSorted((one, other) => other.usd - one.usd)
          .map(({ service, usd }) => ({ what: service, result: `${usd.toFixed(2)} USD` })),
        { what: `all of ${day(1)} (UTC)`, result: `${sum.toFixed(2)} USD` },
      ];
    },

    async failOverOf(group) {
      const clusters = await idsOf('AWS::RDS::DBCluster');
      const cluster = clusters.find((id) => id.endsWith(`-${group}`));
      if (cluster === undefined)
        throw new Error(
          `--failover: wanted a group of ${environment}, got ${group}; clusters are ${clusters.join(', ')}`,
        );
      const { DBClusters = [] } = await rds.send(new DescribeDBClustersCommand({ DBClusterIdentifier: cluster }));
      if ((DBClusters[0]?.DBClusterMembers?.length ?? 0) < 2)
        throw new Error(`--failover: wanted a group with a reader, got ${group}, which has none`);
      return async () => void (await rds.send(new FailoverDBClusterCommand({ DBClusterIdentifier: cluster })));
    },
  };
}

async function resourcesOf(
  client: CloudFormationClient,
  environment: string,
): Promise<readonly StackResourceSummary[]> {
  const resources: StackResourceSummary[] = [];
  for (const part of ['storage', 'service']) {
    const pages = paginateListStackResources({ client }, { StackName: `Schemaless-${environment}-${part}` });
    for await (const { StackResourceSummaries = [] } of pages) resources.push(...StackResourceSummaries);
  }
  return resources;
}

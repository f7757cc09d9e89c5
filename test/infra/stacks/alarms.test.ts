import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoadedStack } from '../../../infra/local/template/template.ts';
import { alarmsOf, type AlarmDefinition, type MetricStat } from '../../alarms/alarm.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { propertiesOf, resolvedByName, synthesized } from '../support/synthesized.ts';

const folder = folderOfTests();

function stacksOf(environment: 'prod' | 'small'): readonly LoadedStack[] {
  return synthesized(join(folder.path, environment), { environment });
}

function alarmsIn(stacks: readonly LoadedStack[]): readonly AlarmDefinition[] {
  return alarmsOf(stacks, resolvedByName(stacks).property);
}

const stacks = stacksOf('prod');
const prod = alarmsIn(stacks);
const of = (section: string): readonly AlarmDefinition[] => prod.filter((alarm) => alarm.section === section);
const GROUPS = 8;
const [ABOVE, BELOW] = ['GreaterThanThreshold', 'LessThanThreshold'];
const FIVE_MINUTES = { periodSeconds: 300, silenceIsBad: false };

describe('alarms of prod', () => {
  it('tell of each table of which requests are throttled, reads or writes, for ten minutes', () => {
    const alarms = of('table-throttles');
    const tables = alarms.map(({ what, looksAt, ...rest }) => {
      expect(rest).toMatchObject({ ...FIVE_MINUTES, threshold: 0, evaluationPeriods: 2, comparison: ABOVE });
      const name = /the (?<name>\w+) table$/u.exec(what)?.groups?.['name'] ?? '';
      const sum = (metric: string): MetricStat => ({
        namespace: 'AWS/DynamoDB',
        name: metric,
        dimensions: { TableName: expect.stringContaining(`tables${name}`) },
        statistic: 'Sum',
      });
      expect(looksAt).toEqual({
        expression: 'FILL(reads, 0) + FILL(writes, 0)',
        metrics: { reads: sum('ReadThrottleEvents'), writes: sum('WriteThrottleEvents') },
      });
      return name;
    });
    expect(tables.sort()).toEqual(['keys', 'state', 'topology']);
  });

  it('tell that the instances of the account run out, by its own quota', () => {
    const most = { namespace: 'AWS/Lambda', dimensions: {}, statistic: 'Maximum' };
    expect(of('account-concurrency')).toMatchObject([
      {
        ...FIVE_MINUTES,
        looksAt: {
          expression: '100 * claimed / SERVICE_QUOTA(concurrent)',
          metrics: {
            claimed: { ...most, name: 'ClaimedAccountConcurrency' },
            concurrent: { ...most, name: 'ConcurrentExecutions' },
          },
        },
        threshold: 90,
        evaluationPeriods: 2,
        comparison: ABOVE,
      },
    ]);
  });

  it('tell of each proxy that does not reach its writer, or its readers', () => {
    const seen = of('proxy-availability').map(({ looksAt, ...rest }) => {
      expect(rest).toMatchObject({ ...FIVE_MINUTES, threshold: 90, evaluationPeriods: 2, comparison: BELOW });
      expect(looksAt).toMatchObject({ namespace: 'AWS/RDS', name: 'AvailabilityPercentage', statistic: 'Average' });
      return 'dimensions' in looksAt ? looksAt.dimensions : {};
    });
    expect(seen).toHaveLength(2 * GROUPS);
    for (const role of ['READ_WRITE', 'READ_ONLY'])
      expect(seen).toContainEqual({ ProxyName: 'schemaless-prod-group-8', TargetGroup: 'default', TargetRole: role });
  });

  it('tell of each proxy that has nearly all the connections to its writer that it may have', () => {
    const alarms = of('proxy-pool');
    expect(alarms).toHaveLength(GROUPS);
    const all = {
      namespace: 'AWS/RDS',
      dimensions: { ProxyName: 'schemaless-prod-group-1', TargetGroup: 'default', TargetRole: 'READ_WRITE' },
      statistic: 'Sum',
    };
    expect(alarms[0]).toMatchObject({
      ...FIVE_MINUTES,
      looksAt: {
        expression: '100 * connections / allowed',
        metrics: {
          connections: { ...all, name: 'DatabaseConnections' },
          allowed: { ...all, name: 'MaxDatabaseConnectionsAllowed' },
        },
      },
      threshold: 85,
      evaluationPeriods: 2,
      comparison: ABOVE,
    });
  });

  it('that tell of requests which are not served leave out those that ask an index while it is built', () => {
    expect(of('server-errors')).toMatchObject([
      {
        looksAt: {
          expression: '100 * (errors - FILL(building, 0)) / requests',
          metrics: {
            errors: { namespace: 'AWS/ApiGateway', name: '5xx', statistic: 'Sum' },
            building: {
              namespace: 'Schemaless',
              name: 'answered_index_building',
              dimensions: { service: 'prod' },
              statistic: 'Sum',
            },
            requests: { namespace: 'AWS/ApiGateway', name: 'Count', statistic: 'Sum' },
          },
        },
        ...FIVE_MINUTES,
        threshold: 1,
      },
    ]);
  });
});

it('an environment without proxies has no alarms of any, nor graphs', () => {
  const small = stacksOf('small');
  expect(alarmsIn(small).filter(({ section }) => section.startsWith('proxy-'))).toEqual([]);
  const pinned = 'DatabaseConnectionsCurrentlySessionPinned';
  const graphs = [small, stacks].map((of) => JSON.stringify(propertiesOf(of, 'AWS::CloudWatch::Dashboard')));
  expect(graphs.map((text) => text.includes(pinned))).toEqual([false, true]);
});

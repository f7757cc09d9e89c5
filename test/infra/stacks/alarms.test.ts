import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { ENVIRONMENT_NAMES, ENVIRONMENTS } from '../../../infra/environments.ts';
import type { LoadedStack } from '../../../infra/local/template/template.ts';
import { alarmsOf, type AlarmDefinition } from '../../alarms/alarm.ts';
import { calculate } from '../../alarms/evaluate.ts';
import { appOf, propertiesOf, resolvedByName, resourcesOf } from '../support/synthesized.ts';

const RUNBOOK = readFileSync(join(PROJECT_ROOT, 'infra/docs/operations/runbook.md'), 'utf8');
const alarmsIn = (stacks: readonly LoadedStack[]): readonly AlarmDefinition[] =>
  alarmsOf(stacks, resolvedByName(stacks).property);

const prod = alarmsIn(appOf({ environment: 'prod' }).stacks);
const FOR_TEN_MINUTES = { periodSeconds: 300, evaluationPeriods: 2, silenceIsBad: false };
const ABOVE = { comparison: 'GreaterThanThreshold' };
const ofWriter = { ProxyName: 'schemaless-prod-group-1', TargetGroup: 'default', TargetRole: 'READ_WRITE' };

function metric(namespace: string, name: string, dimensions: object, statistic = 'Sum') {
  return { namespace, name, dimensions, statistic };
}

it.each([
  [
    'table-throttles',
    3,
    {
      ...ABOVE,
      threshold: 0,
      checks: {
        expression: 'FILL(reads, 0) + FILL(writes, 0)',
        metrics: {
          reads: metric('AWS/DynamoDB', 'ReadThrottleEvents', { TableName: expect.stringContaining('tables') }),
          writes: metric('AWS/DynamoDB', 'WriteThrottleEvents', { TableName: expect.stringContaining('tables') }),
        },
      },
    },
  ],
  [
    'account-concurrency',
    1,
    {
      ...ABOVE,
      threshold: 90,
      checks: {
        expression: '100 * claimed / SERVICE_QUOTA(concurrent)',
        metrics: {
          claimed: metric('AWS/Lambda', 'ClaimedAccountConcurrency', {}, 'Maximum'),
          concurrent: metric('AWS/Lambda', 'ConcurrentExecutions', {}, 'Maximum'),
        },
      },
    },
  ],
  [
    'proxy-availability',
    16,
    {
      comparison: 'LessThanThreshold',
      threshold: 90,
      checks: metric('AWS/RDS', 'AvailabilityPercentage', expect.anything(), 'Average'),
    },
  ],
  [
    'proxy-pool',
    8,
    {
      ...ABOVE,
      threshold: 85,
      checks: {
        expression: '100 * connections / allowed',
        metrics: {
          connections: metric('AWS/RDS', 'DatabaseConnections', expect.anything()),
          allowed: metric('AWS/RDS', 'MaxDatabaseConnectionsAllowed', expect.anything()),
        },
      },
    },
  ],
] as const)('prod has alarms of section %s: %i, for ten minutes', (section, count, alarm) => {
  const found = prod.filter((one) => one.section === section);
  expect(found).toHaveLength(count);
  for (const one of found) expect(one).toMatchObject({ ...FOR_TEN_MINUTES, ...alarm });
  expect(new Set(found.map(({ checks }) => JSON.stringify(checks))).size, 'metrics of their own').toBe(count);
});

it('each proxy of prod has alarms for its writer and its readers', () => {
  const dimensions = prod.flatMap(({ checks }) => ('dimensions' in checks ? [checks.dimensions] : []));
  expect(dimensions).toContainEqual(ofWriter);
  expect(dimensions).toContainEqual({ ...ofWriter, TargetRole: 'READ_ONLY' });
});

describe('the alarm for failing requests, which takes deployments back', () => {
  const [alarm, ...others] = prod.filter(({ section }) => section === 'server-errors');

  it('counts both, and leaves out errors of queries of an index that is built', () => {
    expect([others, alarm]).toMatchObject([
      [],
      {
        checks: {
          metrics: {
            errors: { namespace: 'AWS/ApiGateway', name: '5xx', statistic: 'Sum' },
            building: metric('Schemaless', 'answered_index_building', { service: 'prod' }),
            requests: { namespace: 'AWS/ApiGateway', name: 'Count', statistic: 'Sum' },
          },
        },
        silenceIsBad: false,
        threshold: 1,
      },
    ]);
  });

  it.each([
    ['one failure among few', 20, 1, 0, false],
    ['every request of few', 6, 6, 0, true],
    ['one in a hundred', 200, 2, 0, false],
    ['more of many', 200, 3, 0, true],
    ['an index that is built', 200, 3, 3, false],
  ])('%s: %i requests, %i errors, %i of them of an index', (_what, requests, errors, building, isBad) => {
    const expression = alarm && 'expression' in alarm.checks ? alarm.checks.expression : '';
    expect(Number(calculate(expression, { requests, errors, building })) > 1).toBe(isBad);
  });

  it('rings after two bad periods of three, within the shortest canary', () => {
    expect(alarm).toMatchObject({ datapointsToAlarm: 2, evaluationPeriods: 3 });
    expect(2 * (alarm?.periodSeconds ?? 0)).toBeLessThan(60 * Math.min(ENVIRONMENTS.staging.canaryMinutes ?? 0, 10));
  });
});

it('no peak of one period wakes people, but for what is lost, held back or not started', () => {
  const URGENT = new Set(['group-connections', 'proxy-logins', 'server-errors', 'trigger-unsent']);
  for (const one of prod.filter(({ section }) => URGENT.has(section)))
    expect([one.section, one.datapointsToAlarm]).not.toEqual([one.section, 1]);
});

it('an environment without proxies has no alarms or graphs of proxies', () => {
  const small = appOf({ environment: 'small' }).stacks;
  expect(alarmsIn(small).filter(({ section }) => section.startsWith('proxy-'))).toEqual([]);
  const graphs = [small, appOf({ environment: 'prod' }).stacks].map((stacks) =>
    propertiesOf(stacks, 'AWS::CloudWatch::Dashboard'),
  );
  expect(graphs.map(({ length }) => length)).toEqual([1, 1]);
  expect(graphs.map((of) => JSON.stringify(of).includes('DatabaseConnectionsCurrentlySessionPinned'))).toEqual([
    false,
    true,
  ]);
});

describe.each(ENVIRONMENT_NAMES)('the alarms of %s', (environment) => {
  const { stacks } = appOf({ environment });
  const properties = (type: string) => propertiesOf(stacks, type);

  it('name the section of the runbook that says what to do', () => {
    const sections = [
      ...RUNBOOK.matchAll(/^## (?<name>[a-z-]+)\n\n[A-Z\d][^#]*\n\n\*\*Check:\*\* [^#]*\n\n\*\*Fix:\*\* /gmu),
    ].map(({ groups }) => groups?.['name']);
    const named = properties('AWS::CloudWatch::Alarm').map(
      ({ AlarmDescription }) =>
        /^Schemaless: .*\. See infra\/docs\/operations\/runbook\.md#(?<section>[a-z-]+)$/u.exec(
          String(AlarmDescription),
        )?.groups?.['section'],
    );
    expect(new Set(named).difference(new Set(sections))).toEqual(new Set());
    // Some environments have no readers or proxies, and none of this project is exported by a schedule.
    const unused = new Set(sections).difference(new Set(named));
    const { readersPerGroup, proxy } = ENVIRONMENTS[environment];
    expect(unused).toEqual(
      new Set([
        'export-behind',
        ...(readersPerGroup === 0 ? ['reader-lag'] : []),
        ...(proxy ? [] : ['proxy-availability', 'proxy-logins', 'proxy-pool']),
        ...(environment === 'local' ? ['password-change'] : []),
      ]),
    );
  });

  it('are sent to a topic when they ring and when they end: those that the runbook calls urgent to one of their own', () => {
    const [, list = ''] = /^Urgent alarms are ([^.]+)\./mu.exec(RUNBOOK) ?? [];
    const urgent = new Set(list.split(/,|\band\b/u).map((name) => name.trim()));
    expect(resourcesOf(stacks, 'AWS::SNS::Topic')).toHaveLength(environment === 'local' ? 0 : 2);
    if (environment === 'local') return;
    const told = properties('AWS::CloudWatch::Alarm').map(({ AlarmDescription, AlarmActions, OKActions }) => {
      expect(OKActions).toEqual(AlarmActions);
      return [
        String(AlarmDescription).split('#')[1] ?? '',
        /alarms(urgent|others)/u.exec(JSON.stringify(AlarmActions))?.[1],
      ] as const;
    });
    for (const [section, topic] of told)
      expect([section, topic]).toEqual([section, urgent.has(section) ? 'urgent' : 'others']);
    const unused = ENVIRONMENTS[environment].proxy ? [] : ['proxy-logins'];
    expect(urgent.difference(new Set(told.map(([section]) => section)))).toEqual(new Set(unused));
    const allowed = properties('AWS::SNS::TopicPolicy').map((policy) => JSON.stringify(policy));
    for (const policy of allowed)
      expect(policy).toMatch(/aws:SourceAccount.*cloudwatch\.amazonaws\.com.*events\.rds\.amazonaws\.com/u);
    expect(properties('AWS::RDS::EventSubscription')).toMatchObject([{ SourceType: 'db-cluster' }]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { ENVIRONMENT_NAMES, ENVIRONMENTS } from '../../../infra/environments.ts';
import type { LoadedStack } from '../../../infra/local/template/template.ts';
import { statementsOf } from '../support/statements.ts';
import { appOf, propertiesOf, resourcesOf } from '../support/synthesized.ts';

/** The longest name of a region; the RDS Data API takes ARNs of 100 characters. */
const ARN = 'arn:aws:rds:ap-southeast-2:123456789012:cluster:';
const DEPLOYED = ENVIRONMENT_NAMES.filter((name) => name !== 'local');
const MOST_SECONDS = 3600;

const resourcesIn = (stacks: readonly LoadedStack[]) =>
  stacks.flatMap(({ template }) => Object.values(template.Resources));

describe.each(DEPLOYED)('a first deployment of %s', (environment) => {
  const { stacks } = appOf({ environment });
  const properties = (type: string) => propertiesOf(stacks, type);
  const { groups, protectedFromDeletion, logDays, passwordDays } = ENVIRONMENTS[environment];

  it('names clusters so that the RDS Data API takes their ARNs in every region', () => {
    const names = properties('AWS::RDS::DBCluster').map(({ DBClusterIdentifier }) => String(DBClusterIdentifier));
    expect(names).toEqual(Array.from({ length: groups }, (_, at) => `schemaless-${environment}-group-${at + 1}`));
    for (const name of names) expect(`${ARN}${name}`.length).toBeLessThanOrEqual(100);
  });

  it('waits for the migration for less time than CloudFormation does', () => {
    const waiters = properties('AWS::StepFunctions::StateMachine').map(({ DefinitionString }) =>
      JSON.stringify(DefinitionString),
    );
    expect(waiters).toHaveLength(1);
    const [, interval = 0, attempts = 0] =
      /IntervalSeconds\\+":(\d+).*?MaxAttempts\\+":(\d+)/u.exec(waiters[0] ?? '')?.map(Number) ?? [];
    expect(interval * attempts).toBeGreaterThan(0);
    expect(interval * attempts).toBeLessThan(MOST_SECONDS);
  });

  it('makes the log group of each function before a first call does', () => {
    // That of the VPC is the CDK's own, and is called once it is made.
    const called = properties('AWS::Lambda::Function').filter(
      ({ Description }) => !String(Description).includes('VPC default security group'),
    );
    for (const { LoggingConfig, Description } of called)
      expect(LoggingConfig, String(Description)).toMatchObject({ LogGroup: expect.anything() });
  });

  it('that fails leaves only what is protected from deletion, besides the network and settings', () => {
    const kept = resourcesIn(stacks).filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain');
    const types = new Set(kept.map(({ Type }) => Type));
    expect(types).toEqual(
      new Set(
        protectedFromDeletion
          ? ['AWS::DynamoDB::Table', 'AWS::RDS::DBCluster', 'AWS::RDS::DBInstance', 'AWS::RDS::DBSubnetGroup']
          : [],
      ),
    );
  });

  it('names its dashboard after its region', () => {
    const [dashboard, ...others] = properties('AWS::CloudWatch::Dashboard');
    expect(others).toEqual([]);
    expect(JSON.stringify(dashboard?.['DashboardName'])).toContain('AWS::Region');
  });

  it('keeps the error logs of clusters as long as the environment says, and logs no statement', () => {
    for (const cluster of properties('AWS::RDS::DBCluster'))
      expect(cluster).toMatchObject({ EnableCloudwatchLogsExports: ['error'] });
    const logs = properties('AWS::Logs::LogGroup').filter((log) => JSON.stringify(log).includes('/aws/rds/cluster/'));
    expect(logs).toHaveLength(groups);
    for (const log of logs) expect(log).toMatchObject({ RetentionInDays: logDays });
  });

  it('keeps or deletes passwords together with their clusters', () => {
    const secrets = resourcesOf(stacks, 'AWS::SecretsManager::Secret');
    expect(secrets.length).toBeGreaterThanOrEqual(groups);
    for (const secret of secrets)
      expect(secret).toMatchObject({ DeletionPolicy: protectedFromDeletion ? 'RetainExceptOnCreate' : 'Delete' });
  });

  it('has each password changed by a function that reaches no other cluster or secret', () => {
    const knownAs = stacks.flatMap(({ template }) =>
      Object.entries(template.Resources).flatMap(([id, { Type, Properties }]): (readonly [string, string])[] => {
        // An owner's password is known by what attaches it to its cluster.
        if (Type === 'AWS::SecretsManager::SecretTargetAttachment') return [[Object(Properties?.['SecretId']).Ref, id]];
        // The root key of sealed fields is never changed.
        return Type === 'AWS::SecretsManager::Secret' && !id.endsWith('rootkey') ? [[id, id]] : [];
      }),
    );
    const schedules = properties('AWS::SecretsManager::RotationSchedule');
    expect(schedules.map(({ SecretId }) => Object(SecretId).Ref).toSorted()).toEqual(
      [...new Map(knownAs).values()].toSorted(),
    );
    for (const schedule of schedules)
      expect(schedule).toMatchObject({
        RotationRules: { AutomaticallyAfterDays: passwordDays },
        RotateImmediatelyOnUpdate: false,
      });
    const changing = [...statementsOf(stacks)].filter(([, statements]) =>
      statements.some(({ actions }) => actions.includes('secretsmanager:PutSecretValue')),
    );
    expect(changing.map(([role]) => role)).toEqual(['passwordswork']);
    const reached = changing.flatMap(([, statements]) =>
      statements
        .filter(({ actions }) => actions.some((action) => /^(?:rds|secretsmanager)/u.test(action)))
        .flatMap(({ resources }) => resources),
    );
    expect(reached).toEqual([
      expect.stringContaining(':secret:Secretgroup*'),
      expect.stringContaining(`:cluster:schemaless-${environment}-group-*`),
      expect.stringContaining(`:cluster:schemaless-${environment}-group-*`),
    ]);
    const changes = properties('AWS::IAM::Policy')
      .flatMap(({ PolicyDocument }) => Object(PolicyDocument).Statement as readonly { readonly Action: unknown }[])
      .filter(({ Action }) => [Action].flat().includes('rds:ModifyDBCluster'));
    expect(changes).toMatchObject([{ Condition: { StringLike: { 'aws:ResourceTag/schemaless:group': 'group-*' } } }]);
  });
});

it('a cdk of another Node, which does not read TypeScript, runs the app with the Node of the project', () => {
  const { app }: { readonly app: string } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8'));
  expect(app).toMatch(/^node_modules\/\.bin\/node /u);
});

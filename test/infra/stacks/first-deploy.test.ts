import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { ENVIRONMENT_NAMES, ENVIRONMENTS } from '../../../infra/environments.ts';
import { resourcesOf, synthesized } from '../support/synthesized.ts';
import { statementsOf } from '../support/statements.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** That of a region with the longest name, of the RDS Data API's 100 at most. */
const ARN = 'arn:aws:rds:ap-southeast-2:123456789012:cluster:';
const DEPLOYED = ENVIRONMENT_NAMES.filter((name) => name !== 'local');
/** CloudFormation gives a custom resource an hour. */
const MOST_SECONDS = 3600;

describe.each(DEPLOYED)('what AWS would refuse of %s', (environment) => {
  const stacks = synthesized(join(folder.path, environment), { environment });
  const properties = (type: string) => resourcesOf(stacks, type).map(({ Properties }) => Properties ?? {});
  const { groups } = ENVIRONMENTS[environment];

  it('is no address of a cluster: the RDS Data API takes it in every region', () => {
    const names = properties('AWS::RDS::DBCluster').map(({ DBClusterIdentifier }) => String(DBClusterIdentifier));
    expect(names).toEqual(Array.from({ length: groups }, (_, at) => `schemaless-${environment}-group-${at + 1}`));
    for (const name of names) expect(`${ARN}${name}`.length).toBeLessThanOrEqual(100);
  });

  it('is no migration that CloudFormation does not wait for', () => {
    const waiters = properties('AWS::StepFunctions::StateMachine').map(({ DefinitionString }) =>
      JSON.stringify(DefinitionString),
    );
    expect(waiters).toHaveLength(1);
    const [, interval, attempts] =
      /IntervalSeconds\\+":(\d+).*?MaxAttempts\\+":(\d+)/u.exec(waiters[0] ?? '')?.map(Number) ?? [];
    expect((interval ?? 0) * (attempts ?? 0)).toBeGreaterThan(0);
    expect((interval ?? 0) * (attempts ?? 0)).toBeLessThan(MOST_SECONDS);
  });

  it('is no log group that a first call makes before the deployment does', () => {
    // That of the VPC is the CDK's own, and is called once it is made.
    const called = properties('AWS::Lambda::Function').filter(
      ({ Description }) => !String(Description).includes('VPC default security group'),
    );
    for (const { LoggingConfig, Description } of called)
      expect([Description, LoggingConfig]).toEqual([
        Description,
        expect.objectContaining({ LogGroup: expect.anything() }),
      ]);
  });

  it('is no dashboard of its name in another region', () => {
    const [dashboard, ...others] = properties('AWS::CloudWatch::Dashboard');
    expect(others).toEqual([]);
    expect(JSON.stringify(dashboard?.['DashboardName'])).toContain('AWS::Region');
  });
});

describe.each(DEPLOYED)('the clusters of %s', (environment) => {
  const stacks = synthesized(join(folder.path, `${environment}-clusters`), { environment });
  const { groups, protectedFromDeletion, logDays } = ENVIRONMENTS[environment];

  it('write their errors where they are kept as long as the environment says, and no statement', () => {
    for (const { Properties } of resourcesOf(stacks, 'AWS::RDS::DBCluster'))
      expect(Properties?.['EnableCloudwatchLogsExports']).toEqual(['error']);
    const logs = resourcesOf(stacks, 'AWS::Logs::LogGroup').filter(({ Properties }) =>
      JSON.stringify(Properties).includes('/aws/rds/cluster/'),
    );
    expect(logs).toHaveLength(groups);
    for (const { Properties } of logs) expect(Properties).toMatchObject({ RetentionInDays: logDays });
  });

  it('stay with their passwords, or go with them', () => {
    const wanted = protectedFromDeletion ? 'Retain' : 'Delete';
    const secrets = resourcesOf(stacks, 'AWS::SecretsManager::Secret');
    expect(secrets.length).toBeGreaterThanOrEqual(groups);
    for (const secret of secrets) expect(secret).toMatchObject({ DeletionPolicy: wanted });
  });

  it('get new passwords, each of them, from a function that reaches no other cluster or secret', () => {
    const { passwordDays } = ENVIRONMENTS[environment];
    const ids = stacks.flatMap(({ template }) =>
      Object.entries(template.Resources).flatMap(([id, { Type, Properties }]): (readonly [string, string])[] =>
        // That of an owner goes by what attaches it to its cluster.
        Type === 'AWS::SecretsManager::SecretTargetAttachment'
          ? [[Object(Properties?.['SecretId']).Ref, id]]
          : // The root key of sealed fields is never changed.
            Type === 'AWS::SecretsManager::Secret' && !id.endsWith('rootkey')
            ? [[id, id]]
            : [],
      ),
    );
    const knownAs = new Map(ids);
    const schedules = resourcesOf(stacks, 'AWS::SecretsManager::RotationSchedule');
    expect(schedules.map(({ Properties }) => Object(Properties?.['SecretId']).Ref).toSorted()).toEqual(
      [...knownAs.values()].toSorted(),
    );
    for (const { Properties } of schedules)
      expect(Properties).toMatchObject({
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
    ]);
  });
});

it('a cdk of another Node, which does not read TypeScript, makes the app by the one that the project brings', () => {
  const { app }: { readonly app: string } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8'));
  expect(app).toMatch(/^node_modules\/\.bin\/node /u);
});

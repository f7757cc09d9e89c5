import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ENVIRONMENT_NAMES, ENVIRONMENTS } from '../../../infra/environments.ts';
import { checkEnvironment } from '../../../infra/check-environment.ts';
import { checkTypes } from '../../../infra/local/resources/local-resources.ts';
import { ROUTES } from '../../../shared/api/routes.ts';
import { resourcesOf, synthesized } from '../support/synthesized.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

describe.each(ENVIRONMENT_NAMES)('the app of %s', (environment) => {
  const stacks = synthesized(join(folder.path, environment), { environment });
  const properties = (type: string) => resourcesOf(stacks, type).map(({ Properties }) => Properties ?? {});

  it('has every route, each only for callers that IAM allows', () => {
    const routes = properties('AWS::ApiGatewayV2::Route');
    expect(routes.map(({ RouteKey }) => RouteKey).sort()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
    expect(new Set(routes.map(({ AuthorizationType }) => AuthorizationType))).toEqual(new Set(['AWS_IAM']));
  });

  it('keeps its tables when the stack goes, recoverable to any second', () => {
    const tables = resourcesOf(stacks, 'AWS::DynamoDB::Table');
    expect(tables).toHaveLength(2);
    for (const table of tables) {
      expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
      expect(table.Properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true },
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      });
    }
  });

  it('has as many clusters and nodes as the environment says, encrypted, with the settings that the store relies on', () => {
    const { groups, readersPerGroup, protectedFromDeletion } = ENVIRONMENTS[environment];
    const clusters = resourcesOf(stacks, 'AWS::RDS::DBCluster');
    expect(clusters).toHaveLength(groups);
    expect(properties('AWS::RDS::DBInstance')).toHaveLength(groups * (1 + readersPerGroup));
    for (const cluster of clusters) {
      expect(cluster).toMatchObject({ DeletionPolicy: protectedFromDeletion ? 'Retain' : 'Snapshot' });
      expect(cluster.Properties).toMatchObject({ StorageEncrypted: true, DeletionProtection: protectedFromDeletion, EngineVersion: expect.stringContaining('mysql_aurora.3.10.') });
    }
    expect(properties('AWS::RDS::DBClusterParameterGroup')).toEqual([expect.objectContaining({ Parameters: expect.objectContaining({ time_zone: 'UTC', require_secure_transport: 'ON' }) })]);
    expect(properties('AWS::RDS::DBParameterGroup')).toEqual([expect.objectContaining({ Parameters: { innodb_lock_wait_timeout: '3', max_allowed_packet: '67108864' } })]);
  });

  it('repeats neither schedules nor functions', () => {
    expect(properties('AWS::Scheduler::Schedule')).toEqual([
      expect.objectContaining({ ScheduleExpression: 'rate(1 minute)', Target: expect.objectContaining({ RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } }) }),
    ]);
    const retries = properties('AWS::Lambda::EventInvokeConfig').map(({ MaximumRetryAttempts }) => MaximumRetryAttempts);
    expect(retries).toEqual([0, 0, 0, 0, 0]);
  });

  it('gives functions no more time than the API has, and the definitions beside their code', () => {
    const functions = resourcesOf(stacks, 'AWS::Lambda::Function').filter(({ Properties }) => Properties?.['Handler'] === 'index.handler');
    expect(functions.map(({ Properties }) => [Properties?.['Runtime'], Properties?.['Timeout']]).sort()).toEqual([['nodejs24.x', 28], ['nodejs24.x', 28], ['nodejs24.x', 900]]);
    for (const { Metadata } of functions) {
      const bundle = join(folder.path, environment, String(Metadata?.['aws:asset:path']));
      expect(existsSync(join(bundle, 'index.mjs'))).toBe(true);
      expect(JSON.parse(readFileSync(join(bundle, 'definitions.json'), 'utf8'))).toEqual({ datastores: [{ name: 'trips', shards: environment === 'prod' ? 4096 : 256 }] });
    }
  });

  it('lets functions write no table but those they have to', () => {
    const writers = Object.fromEntries(
      stacks.flatMap(({ template }) => Object.entries(template.Resources))
        .filter(([, { Type, Properties }]) => Type === 'AWS::IAM::Policy' && JSON.stringify(Properties).includes('dynamodb:PutItem'))
        .map(([logicalId]) => [logicalId.slice(0, logicalId.indexOf('ServiceRole')), true]),
    );
    expect(Object.keys(writers).sort()).toEqual(['drainbuffer', 'migrationisComplete', 'migrationonEvent']);
  });

  it('is all known to the local stack', () => {
    expect(() => checkTypes(stacks)).not.toThrow();
  });
});

describe('an environment', () => {
  it('is named on the command line', () => {
    expect(() => synthesized(folder.path, {})).toThrow('environment: wanted one of local, dev, prod (-c environment=NAME), got undefined');
    expect(() => synthesized(folder.path, { environment: 'test' })).toThrow(/got "test"/u);
  });

  it('is not changed on the command line, but for the local one', () => {
    expect(() => synthesized(folder.path, { environment: 'prod', groups: '2' })).toThrow(/groups: wanted nothing/u);
    expect(() => synthesized(folder.path, { environment: 'local', groups: 'two' })).toThrow('groups: wanted a whole number from 1 to 20, got "two"');
  });

  it('cannot buffer on more groups than may be lost', () => {
    expect(() => checkEnvironment({ ...ENVIRONMENTS.prod, bufferCopies: 7 })).toThrow('prod.bufferCopies: wanted at most 6 with 8 groups (groups - 2), got 7');
    expect(() => checkEnvironment({ ...ENVIRONMENTS.dev, functionsInVpc: false })).toThrow(/dev\.functionsInVpc: wanted true/u);
  });
});

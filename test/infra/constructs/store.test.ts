import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { SubnetType, Vpc, type IVpc, type SubnetConfiguration } from 'aws-cdk-lib/aws-ec2';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Key, type IKey } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { expect, it } from 'vitest';
import { STORE_FUNCTIONS } from '../../../infra/constructs/function-code.ts';
import { MOST_GROUPS } from '../../../infra/constructs/store-environment.ts';
import { routesOf, statementsOf } from '../support/statements.ts';
import { propertiesOf, resourcesOf } from '../support/synthesized.ts';
import { exceededIn } from '../support/template-limits.ts';
import { standInApp, TRIPS } from './stand-in-store.ts';

const NAME = { name: 'bill_rider' };
const CERTIFICATE = 'arn:aws:acm:eu-west-1:123456789012:certificate/1a2b';

it('has what its options say: datastores made without a deployment, I/O-optimized storage', () => {
  using app = standInApp();
  // Both together would be more than a stack takes.
  app.store({ passwordDays: 0, storageScope: new Stack(app.stack.node.root, 'Home') }, 'Fixed');
  app.store({ passwordDays: 0, definedByApi: { mostShards: 16 }, storage: 'io-optimized' }, 'Open');
  const stacks = app.synthesized();
  // Both drain, repair and move; one tails from the start.
  expect(resourcesOf(stacks, 'AWS::Scheduler::Schedule')).toHaveLength(3 + 4);
  const limits = propertiesOf(stacks, 'AWS::Lambda::Function').flatMap(
    ({ Environment }) => Object(Environment).Variables?.SCHEMALESS_MOST_SHARDS ?? [],
  );
  expect(limits).toEqual(['16']);
  const paid = propertiesOf(stacks, 'AWS::RDS::DBCluster').map(({ StorageType }) => StorageType);
  expect(new Set(paid)).toEqual(new Set([undefined, 'aurora-iopt1']));
});

it('has the domain, the canary, the throttles and the backups that its options say', () => {
  using app = standInApp();
  const copyTo = 'arn:aws:backup:eu-north-1:123456789012:backup-vault:elsewhere';
  const store = app.store({
    groups: 3,
    keepCopiesMinutes: 30,
    backups: { keepDays: 60, monthlyDays: 365, copyTo },
    routeThrottles: { readLog: { ratePerSecond: 5, burst: 10 } },
    domain: { name: 'trips.example.com', certificateArn: CERTIFICATE },
    canaryMinutes: 15,
  });
  const stacks = app.synthesized();
  const [stage] = resourcesOf(stacks, 'AWS::ApiGatewayV2::Stage');
  expect(stage?.Properties).toMatchObject({
    RouteSettings: { 'POST /v1/{datastore}/log': { ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 } },
  });
  // A stage that names a route which is not there yet is refused.
  expect(Object(stage).DependsOn).toEqual(expect.arrayContaining([expect.stringMatching(/POSTv1datastorelog/u)]));
  const aliases = resourcesOf(stacks, 'AWS::Lambda::Alias');
  expect(aliases).toHaveLength(6);
  expect(aliases.every((alias) => 'CodeDeployLambdaAliasUpdate' in Object(Object(alias).UpdatePolicy))).toBe(true);
  expect(propertiesOf(stacks, 'AWS::CodeDeploy::DeploymentGroup')).toMatchObject(
    aliases.map(() => ({
      AlarmConfiguration: { Enabled: true, Alarms: [{ Name: { Ref: expect.stringMatching(/servererrors/u) } }] },
      AutoRollbackConfiguration: { Enabled: true },
    })),
  );
  // The API calls the alias, never the newest code itself.
  const called = propertiesOf(stacks, 'AWS::ApiGatewayV2::Integration').map((one) => JSON.stringify(one));
  expect(called.every((integration) => integration.includes('canary'))).toBe(true);
  expect(propertiesOf(stacks, 'AWS::ApiGatewayV2::ApiMapping')).toHaveLength(1);
  expect(store.domainTarget).toBeDefined();
  const printed = stacks.flatMap(({ template }) => Object.values(template.Outputs ?? {}));
  expect(printed).toContainEqual(
    expect.objectContaining({ Value: { 'Fn::GetAtt': [expect.any(String), 'ApiEndpoint'] } }),
  );
  expect(propertiesOf(stacks, 'AWS::Backup::BackupPlan')).toMatchObject([
    {
      BackupPlan: {
        BackupPlanRule: [['daily', 35, 7] as const, ['weekly', 60, 60] as const, ['monthly', 365, 365] as const].map(
          ([RuleName, here, elsewhere]) => ({
            RuleName,
            Lifecycle: { DeleteAfterDays: here },
            CopyActions: [{ DestinationBackupVaultArn: copyTo, Lifecycle: { DeleteAfterDays: elsewhere } }],
          }),
        ),
      },
    },
  ]);
  const kept = resourcesOf(stacks, 'AWS::Lambda::Function').flatMap(
    ({ Properties }) => Object(Properties).Environment?.Variables?.SCHEMALESS_KEEP_COPIES ?? [],
  );
  expect(kept).toEqual(['1800']);
});

it('takes a VPC as it is while it is still to be looked up', () => {
  using app = standInApp('123456789012');
  const vpc = Vpc.fromLookup(app.stack, 'Vpc', { vpcId: 'vpc-1' });
  expect(app.store({ vpc }).storage.network.vpc).toBe(vpc);
});

it.each([
  [undefined, 3],
  [false, 0],
])('makes no VPC besides the given one; with vpcEndpoints %s it has %i endpoints', (vpcEndpoints, count) => {
  using app = standInApp();
  const data: SubnetConfiguration = { name: 'data', subnetType: SubnetType.PRIVATE_ISOLATED };
  const vpc = new Vpc(app.stack, 'Vpc', { natGateways: 0, subnetConfiguration: [data] }) as IVpc;
  app.store({ access: 'mysql', vpc, ...(vpcEndpoints !== undefined && { vpcEndpoints }) });
  const stacks = app.synthesized();
  expect(resourcesOf(stacks, 'AWS::EC2::VPC')).toHaveLength(1);
  expect(resourcesOf(stacks, 'AWS::EC2::VPCEndpoint')).toHaveLength(count);
  for (const { SubnetIds } of propertiesOf(stacks, 'AWS::RDS::DBSubnetGroup'))
    expect(JSON.stringify(SubnetIds)).toMatch(/^(?:.*?VpcdataSubnet){2}/u);
  const functions = propertiesOf(stacks, 'AWS::Lambda::Function').filter(({ VpcConfig }) => VpcConfig);
  expect(functions).toHaveLength(STORE_FUNCTIONS.length - 4);
  for (const { VpcConfig } of functions) expect(JSON.stringify(VpcConfig)).toContain('VpcdataSubnet');
});

it('lets callers do what was granted, and nothing else', () => {
  using app = standInApp();
  const store = app.store();
  store.datastore('trips').grantWrite(app.lambda('Writer'));
  store.grantRead(app.lambda('Analyst'));
  store.grantOperate(app.lambda('OnCall'));
  const granted = statementsOf(app.synthesized());
  const routes = (role: string): readonly string[] => routesOf(granted.get(role));
  const changing = /^PUT|batch-put|batch-restore|pause|resume|rewind|retry|discard|replay|keep/u;
  expect(routes('Writer')).toContain('PUT/v1/trips/cells/*/*/*');
  const beyond = (route: string): boolean =>
    !/^(?:GET|PUT|POST)\/v1\/trips\//u.test(route) || route.includes('triggers');
  expect(routes('Writer').filter(beyond)).toEqual([]);
  expect(routes('Analyst')).toContain('GET/v1/*/cells/*/*');
  expect(routes('Analyst').filter((route) => changing.test(route))).toEqual([]);
  expect(routes('OnCall').filter((route) => changing.test(route)).length).toBeGreaterThan(8);
});

it('may share a stack with another: names differ, and each keeps or deletes its data as its option says', () => {
  using app = standInApp();
  // With a reader, schedules, and changes of passwords, they would be more than a stack takes.
  app.store({ passwordDays: 0, schedules: false }, 'One');
  const removalPolicy = RemovalPolicy.DESTROY;
  app.store({ access: 'mysql', groups: 1, readers: 0, passwordDays: 0, removalPolicy }, 'Two');
  const stacks = app.synthesized();
  const names = propertiesOf(stacks, 'AWS::CloudWatch::Dashboard').map(({ DashboardName }) => DashboardName);
  expect(new Set(names).size).toBe(2);
  const [proxy] = propertiesOf(stacks, 'AWS::RDS::DBProxy');
  expect(proxy?.['DBProxyName']).toMatch(/^schemaless-shop-two-[0-9a-f]{8}-group-1$/u);
  const resources = stacks.flatMap(({ template }) => Object.entries(template.Resources));
  // The RDS Data API takes ARNs of 100 characters: 78 of them are not of the logical id.
  const secrets = resources.filter(([, { Type }]) => Type === 'AWS::SecretsManager::Secret');
  // Seven with passwords, one of the other's owner, and the root key of the one that has a way to it.
  expect(secrets).toHaveLength(9);
  for (const [logicalId] of secrets) expect(logicalId.length).toBeLessThanOrEqual(22);
  const held = resources.filter(([, { Type }]) => /^AWS::(?:RDS::DBCluster|DynamoDB::Table)$/u.test(Type));
  expect(held).toHaveLength(2 * (1 + 3));
  for (const [id, { DeletionPolicy }] of held)
    expect([id, DeletionPolicy]).toEqual([id, id.startsWith('One') ? 'Retain' : 'Delete']);
});

it('seals fields if its functions reach the root key, behind proxies by an endpoint', () => {
  const sealed = [{ column: 'BASE', subject: 'rider', fields: ['name'] }];
  const props = { access: 'mysql', datastores: [{ datastore: 'trips', shards: 16, sealed }] } as const;
  using refused = standInApp();
  refused.store(props);
  expect(() => refused.synthesized()).toThrow(/sealsFields: wanted true, since trips has sealed/u);
  using app = standInApp();
  app.store({ ...props, sealsFields: true });
  const stacks = app.synthesized();
  expect(propertiesOf(stacks, 'Custom::SchemalessMigration')).toMatchObject([
    { Datastores: [{ sealed: JSON.stringify(sealed) }] },
  ]);
  const endpoints = propertiesOf(stacks, 'AWS::EC2::VPCEndpoint').map(({ ServiceName }) => JSON.stringify(ServiceName));
  expect(endpoints.filter((name) => name.includes('secretsmanager'))).toHaveLength(1);
});

it('puts more groups than a stack takes into further stacks, within the limits of AWS', () => {
  using app = standInApp();
  const home = new Stack(app.stack.node.root, 'Home', { terminationProtection: true });
  const pager = new Topic(new Stack(app.stack.node.root, 'Pager'), 'Topic');
  const alarmTopics = { urgent: [pager], others: [pager] };
  app.store({
    name: 'trips',
    groups: MOST_GROUPS,
    breakGlass: true,
    backups: { keepDays: 90 },
    encryptionKey: new Key(home, 'Key') as IKey,
    alarmTopics,
    storageScope: home,
  });
  // A second one, whose groups have other names than those of the first.
  app.store({ name: 'fares', groups: 3, groupsInFirstStack: 2, storageScope: home, alarmTopics }, 'Fares');
  const stacks = app.synthesized();
  const alarms = propertiesOf(stacks, 'AWS::CloudWatch::Alarm');
  expect(alarms.length).toBeGreaterThan(MOST_GROUPS);
  for (const alarm of alarms)
    for (const name of ['AlarmActions', 'OKActions'])
      expect(JSON.stringify(alarm[name])).toMatch(/^\[\{"Fn::ImportValue":"Pager:\w+"\}\]$/u);
  const clusters = stacks.map((stack) => resourcesOf([stack], 'AWS::RDS::DBCluster').length);
  expect(clusters.filter((count) => count > 0).toSorted((a, b) => b - a)).toEqual([14, 12, 12, 4, 1]);
  expect(exceededIn(stacks)).toEqual([]);
  const further = home.node.findAll().filter((part) => part instanceof Stack && part !== home);
  expect(further).toHaveLength(4);
  for (const stack of further) expect(stack).toMatchObject({ terminationProtection: true });
});

it('is encrypted with a given key, which services alone may use', () => {
  using app = standInApp();
  const trips = app.store({ encryptionKey: new Key(app.stack, 'Key') as IKey }).datastore('trips');
  trips.onCell('BASE', app.lambda('Fn'), NAME);
  const reader = new Role(app.stack, 'Elsewhere', { assumedBy: new AccountRootPrincipal() });
  trips.queueFor('*', { name: 'elsewhere' }).grantConsuming(reader);
  const stacks = app.synthesized();
  const keys = [
    ...propertiesOf(stacks, 'AWS::RDS::DBCluster').map(({ KmsKeyId }) => KmsKeyId),
    ...propertiesOf(stacks, 'AWS::DynamoDB::Table').map((table) => Object(table['SSESpecification']).KMSMasterKeyId),
    ...propertiesOf(stacks, 'AWS::SQS::Queue').map(({ KmsMasterKeyId }) => KmsMasterKeyId),
    ...propertiesOf(stacks, 'AWS::SecretsManager::Secret').map(({ KmsKeyId }) => KmsKeyId),
  ];
  for (const key of keys) expect(JSON.stringify(key)).toMatch(/"Key/u);
  const uses = resourcesOf(stacks, 'AWS::IAM::Policy').flatMap(
    ({ Properties }) =>
      Object(Properties?.['PolicyDocument']).Statement.filter(({ Action }: { readonly Action: unknown }) =>
        JSON.stringify(Action).includes('kms:'),
      ) as readonly { readonly Action: unknown; readonly Condition?: object }[],
  );
  const services = uses.map(({ Condition }) => JSON.stringify(Condition ?? {}));
  for (const service of services)
    expect(service).toMatch(
      /^\{"StringEquals":\{"kms:ViaService":\{"Fn::Join":\["",\["(?:dynamodb|sqs|secretsmanager)\./u,
    );
  // The tailer, the manager of triggers, the trigger's function, and an external consumer.
  expect(services.filter((service) => service.includes('"sqs.'))).toHaveLength(4);
});

it('lets people run SQL in an emergency if its option says so, with the given key', () => {
  using app = standInApp();
  app.store({ encryptionKey: new Key(app.stack, 'Key') as IKey, breakGlass: true });
  const stacks = app.synthesized();
  for (const { Properties } of resourcesOf(stacks, 'AWS::RDS::DBCluster'))
    expect(Properties).toMatchObject({ EnableHttpEndpoint: true });
  const policy = resourcesOf(stacks, 'AWS::IAM::Policy')
    .map((one) => JSON.stringify(one.Properties))
    .find((text) => text.includes('breakglass'));
  expect(policy).toMatch(/"Action":\["kms:Decrypt","kms:DescribeKey"\].*"kms:ViaService"/u);
  expect(resourcesOf(stacks, 'AWS::Events::Rule')).toEqual([]);
});

it('reports to the urgent topic that its key was disabled', () => {
  using app = standInApp();
  const urgent = new Topic(app.stack, 'Urgent');
  app.store({ encryptionKey: new Key(app.stack, 'Key') as IKey, alarmTopics: { urgent: [urgent] } });
  expect(propertiesOf(app.synthesized(), 'AWS::Events::Rule')).toMatchObject([
    {
      EventPattern: {
        source: ['aws.kms'],
        detail: {
          eventName: ['DisableKey', 'ScheduleKeyDeletion'],
          resources: { ARN: [{ 'Fn::GetAtt': [expect.stringMatching(/^Key/u), 'Arn'] }] },
        },
      },
      Targets: [{ Arn: { Ref: expect.stringMatching(/^Urgent/u) } }],
    },
  ]);
});

it('takes definitions as objects like those of the YAML', () => {
  using app = standInApp();
  const { definitions } = app.store({
    datastores: [
      {
        ...TRIPS[0],
        indexes: [
          {
            table: 'rider_index',
            column_defs: [{ column_key: 'BASE', fields: [{ field: 'rider_uuid', type: 'UUID' }] }],
          },
        ],
      },
    ],
    shards: { trips: 4 },
  }).service;
  expect(definitions.datastores).toEqual([
    {
      name: 'trips',
      shards: 4,
      indexes: [{ name: 'rider_index', fields: [{ field: 'rider_uuid', type: 'UUID', column_key: 'BASE' }], keys: [] }],
      triggers: [],
    },
  ]);
});

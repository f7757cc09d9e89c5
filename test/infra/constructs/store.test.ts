import { join } from 'node:path';
import { Duration, NestedStack, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Key, type IKey } from 'aws-cdk-lib/aws-kms';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { SubnetType, Vpc, type IVpc, type SubnetConfiguration } from 'aws-cdk-lib/aws-ec2';
import { Alias, Function as LambdaFunction, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import type { ExportOptions, SchemalessStoreProps, TriggerOptions } from '../../../infra/constructs/index.ts';
import { readyMade } from '../../../infra/constructs/function-code.ts';
import { MOST_GROUPS } from '../../../infra/constructs/store-environment.ts';
import { METRICS } from '../../../shared/metrics.ts';
import { readWish } from '../../../functions/environment/migration-properties.ts';
import { circleIn } from '../support/references.ts';
import { statementsOf } from '../support/statements.ts';
import { propertiesOf, resolvedByName, resourcesOf } from '../support/synthesized.ts';
import { exceededIn } from '../support/template-limits.ts';
import { standInApp, TRIPS, type StandInApp } from './stand-in-store.ts';
import { writeFiles } from '../support/write-files.ts';

const NAME = { name: 'bill_rider' };
const FLASH = Duration.millis(1);
const CERTIFICATE = 'arn:aws:acm:eu-west-1:123456789012:certificate/1a2b';

describe('a store is refused, with the option, what was wanted and what came,', () => {
  const cases: readonly (readonly [string, Partial<SchemalessStoreProps>, string | RegExp])[] = [
    ['a name in capitals', { name: 'Shop' }, /^name: wanted 1 to 30 of a-z and 0-9, .*, got "Shop"$/u],
    ['a name too long for a proxy', { name: 'a'.repeat(31) }, /^name: wanted 1 to 30 /u],
    ['an unknown way to MySQL', { access: 'odbc' as 'mysql' }, 'access: wanted mysql or data-api, got "odbc"'],
    ['no group', { groups: 0 }, 'groups: wanted a whole number from 1 to 40, got 0'],
    ['too many readers', { readers: 6 }, 'readers: wanted a whole number from 0 to 5, got 6'],
    ['copies without groups', { groups: 2, bufferCopies: 1 }, 'bufferCopies: wanted 0, got 1'],
    ['copies on every group', { groups: 4, bufferCopies: 3 }, 'bufferCopies: wanted a whole number from 0 to 2, got 3'],
    ['a third of an ACU', { capacity: { min: 0.3, max: 4 } }, /^capacity: wanted ACU in halves.*got min 0\.3, max 4$/u],
    ['less at most than at least', { capacity: { min: 8, max: 4 } }, /^capacity: .*got min 8, max 4$/u],
    ['a proxy that nobody goes through', { proxy: true }, /proxy: wanted false with access data-api/u],
    ['tailers without work', { tailers: 65 }, /tailers: wanted a whole number from 1 to 64, got 65/u],
    ['snapshots', { removalPolicy: RemovalPolicy.SNAPSHOT }, 'removalPolicy: wanted retain or destroy, got "snapshot"'],
    ['shards of no datastore', { shards: { trip: 16 } }, 'shards: wanted names of datastores (trips), got trip'],
    ['subnets of no VPC', { subnets: {} }, 'subnets: wanted nothing without vpc, since then one is made, got a choice'],
    [
      'origins that API Gateway would not know',
      { corsOrigins: ['https://shop.example', 'http://localhost:*'] },
      'corsOrigins: wanted *, or origins such as https://shop.example, got "http://localhost:*"',
    ],
    [
      'kept copies of what is not copied',
      { keepCopiesMinutes: 5 },
      /keepCopiesMinutes: wanted 0, since no write is copied, got 5$/u,
    ],
    [
      'backups for no day',
      { backups: { keepDays: 0 } },
      /backups\.keepDays: wanted a whole number from 1 to 36500, got 0/u,
    ],
    [
      'backups elsewhere, but not in a vault',
      { backups: { keepDays: 30, copyTo: 'elsewhere' } },
      /backups\.copyTo: wanted the ARN of a vault, .*, got elsewhere$/u,
    ],
    [
      'bounds of what is no operation',
      { routeThrottles: { log: { ratePerSecond: 1, burst: 1 } } as object },
      /routeThrottles: wanted operations such as putCell, .*, got log$/u,
    ],
    [
      'bounds of a route beyond those of all',
      { routeThrottles: { readLog: { ratePerSecond: 101, burst: 1 } } },
      /routeThrottles\.readLog\.ratePerSecond: wanted a whole number from 1 to 100, that of all routes, got 101$/u,
    ],
    [
      'a domain that is none',
      { domain: { name: 'Trips', certificateArn: CERTIFICATE } },
      /domain\.name: wanted a name such as trips\.example\.com, got Trips$/u,
    ],
    [
      'a certificate that is none',
      { domain: { name: 'trips.example.com', certificateArn: 'mine' } },
      /domain\.certificateArn: wanted that of a certificate of ACM, .*, got mine$/u,
    ],
    ['no shard to be made', { definedByApi: { mostShards: 0 } }, /^definedByApi\.mostShards: wanted a .*, got 0$/u],
    [
      'more instances than connections',
      { access: 'mysql', capacity: { min: 1, max: 1 } },
      /instances: wanted at most 81 connections to a group with a capacity of 1 ACU, got \d+/u,
    ],
  ];
  it.each(cases)('for %s', (_what, props, message) => {
    using app = standInApp();
    expect(() => app.store(props)).toThrow(message);
  });

  it('for datastores made without a deployment, whose queues would not have the key', () => {
    using app = standInApp();
    const props = { definedByApi: { mostShards: 16 }, encryptionKey: new Key(app.stack, 'Key') as IKey };
    expect(() => app.store(props)).toThrow(/^definedByApi: wanted nothing with encryptionKey/u);
  });

  it('for definitions, with all that is wrong with them', () => {
    using app = standInApp();
    const datastores = [
      { datastore: 'trips', shards: 0, indexes: [{ table: 'i', column_defs: [] }] },
      { datastore: 'trips', shards: 16 },
      { datastore: 'riders', shards: 16, triggers: [{ trigger: 'a', columns: '*' as const, max_attempts: 0 }] },
      { datastore: 'riders', shards: 16 },
    ];
    expect(() => app.store({ datastores })).toThrow(
      [
        '4 problems in the definitions in the app:',
        '  datastores[0]: shards: wanted a whole number from 1 to 65536, got 0',
        '  datastores[0].indexes[0]: column_defs: wanted a list of columns with their fields, got an empty list',
        '  datastores[2].triggers[0]: max_attempts: wanted a whole number from 1 to 1000, got 0',
        '  datastores: wanted each name once, got riders again',
      ].join('\n'),
    );
    expect(() => app.store({ datastores: join(app.folder, 'nowhere') }, 'Other')).toThrow(
      /wanted a folder of datastores/u,
    );
    expect(() => app.store({ datastores: [] }, 'Empty')).toThrow(/wanted one at least, got none/u);
  });

  it('for code that is not ready made', () => {
    using app = standInApp();
    // Not what is installed: here that is a folder of the project, which is built while packages are tested.
    const code = readyMade({ access: 'mysql', proxy: false }, app.folder);
    expect(() => app.store({ code })).toThrow(
      /^functions: wanted the bundle of preflight in .*, got nothing; its package was not built$/u,
    );
  });
});

it('datastores can be made without a deployment where a store says so, and are tailed from the start', () => {
  using app = standInApp();
  // Both together would be more than a stack takes.
  app.store({ passwordDays: 0, storageScope: new Stack(app.stack.node.root, 'Home') }, 'Fixed');
  app.store({ passwordDays: 0, definedByApi: { mostShards: 16 } }, 'Open');
  const ids = resourcesOf(app.synthesized(), 'AWS::Scheduler::Schedule').length;
  // Both drain, repair and move; one tails.
  expect(ids).toBe(3 + 4);
  const limits = resourcesOf(app.synthesized(), 'AWS::Lambda::Function').flatMap(
    ({ Properties }) => Object(Properties).Environment?.Variables?.SCHEMALESS_MOST_SHARDS ?? [],
  );
  expect(limits).toEqual(['16']);
});

it('pays for its storage as it is told to: by each I/O unless it says otherwise', () => {
  using app = standInApp();
  app.store({ passwordDays: 0, schedules: false }, 'Standard');
  app.store({ passwordDays: 0, schedules: false, storage: 'io-optimized', name: 'busy' }, 'Busy');
  const paid = propertiesOf(app.synthesized(), 'AWS::RDS::DBCluster').map(({ StorageType }) => StorageType);
  expect(paid).toEqual([undefined, 'aurora-iopt1']);
});

it('has the edge and the backups that it is told to have', () => {
  using app = standInApp();
  const copyTo = 'arn:aws:backup:eu-north-1:123456789012:backup-vault:elsewhere';
  const store = app.store({
    groups: 3,
    keepCopiesMinutes: 30,
    backups: { keepDays: 30, copyTo },
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
  // Who is called by the API is the alias, never the newest code itself.
  const called = propertiesOf(stacks, 'AWS::ApiGatewayV2::Integration').map((one) => JSON.stringify(one));
  expect(called.every((integration) => integration.includes('canary'))).toBe(true);
  expect(propertiesOf(stacks, 'AWS::ApiGatewayV2::ApiMapping')).toHaveLength(1);
  expect(store.domainTarget).toBeDefined();
  expect(propertiesOf(stacks, 'AWS::Backup::BackupPlan')).toMatchObject([
    { BackupPlan: { BackupPlanRule: [{ CopyActions: [{ DestinationBackupVaultArn: copyTo }] }] } },
  ]);
  const kept = resourcesOf(stacks, 'AWS::Lambda::Function').flatMap(
    ({ Properties }) => Object(Properties).Environment?.Variables?.SCHEMALESS_KEEP_COPIES ?? [],
  );
  expect(kept).toEqual(['1800']);
});

describe('a VPC that is brought', () => {
  const open: SubnetConfiguration = { name: 'open', subnetType: SubnetType.PUBLIC };
  const data: SubnetConfiguration = { name: 'data', subnetType: SubnetType.PRIVATE_ISOLATED };

  it('is refused without isolated subnets, unless others are named, and with public or too few ones', () => {
    using app = standInApp();
    const vpc = (id: string, configuration: SubnetConfiguration, maxAzs = 2): IVpc =>
      // The compiler's exactOptionalPropertyTypes finds the library's class at odds with its own interface.
      new Vpc(app.stack, id, { natGateways: 0, maxAzs, subnetConfiguration: [configuration] }) as IVpc;
    const withoutIsolated = vpc('Open', open);
    expect(() => app.store({ vpc: withoutIsolated }, 'A')).toThrow(
      'vpc: wanted subnets like {"subnetType":"Isolated"}, or others that subnets names, got 2 public, 0 private and 0 isolated ones in Shop/Open',
    );
    const subnets = { subnetType: SubnetType.PUBLIC };
    expect(() => app.store({ vpc: withoutIsolated, subnets }, 'B')).toThrow(
      /^subnets: wanted isolated or private ones, .*, got Shop\/Open\/openSubnet1, Shop\/Open\/openSubnet2, which are public$/u,
    );
    expect(() => app.store({ vpc: vpc('Narrow', data, 1) }, 'C')).toThrow(
      /^vpc: wanted subnets for the clusters in 2 availability zones at least, got some in .* in Shop\/Narrow$/u,
    );
    expect(() => app.store({ vpc: vpc('Data', data), vpcEndpoints: false }, 'D')).toThrow(
      /^vpcEndpoints: wanted nothing without access mysql/u,
    );
  });

  it('is taken as it is while it is still to be looked up', () => {
    using app = standInApp('123456789012');
    const vpc = Vpc.fromLookup(app.stack, 'Vpc', { vpcId: 'vpc-1' });
    expect(app.store({ vpc }).storage.network.vpc).toBe(vpc);
  });

  it('gets endpoints, unless it has them, and no other VPC is made', () => {
    const endpointsWith = (vpcEndpoints: boolean | undefined): number => {
      using app = standInApp();
      const vpc = new Vpc(app.stack, 'Vpc', { natGateways: 0, subnetConfiguration: [data] }) as IVpc;
      app.store({ access: 'mysql', vpc, ...(vpcEndpoints !== undefined && { vpcEndpoints }) });
      const stacks = app.synthesized();
      expect(resourcesOf(stacks, 'AWS::EC2::VPC')).toHaveLength(1);
      return resourcesOf(stacks, 'AWS::EC2::VPCEndpoint').length;
    };
    expect([endpointsWith(undefined), endpointsWith(true), endpointsWith(false)]).toEqual([3, 3, 0]);
  });
});

describe('onCell is refused', () => {
  const cases: readonly (readonly [string, string | readonly string[], TriggerOptions, string])[] = [
    ['a column without a name', '', NAME, 'columns[0]: wanted text of 1 to 255 bytes, got ""'],
    ['no column', [], NAME, "columns: wanted a list of column names, or '*' for every column, got an empty list"],
    ['a column that is half a letter', 'a\ud800', NAME, 'columns[0]: wanted text of 1 to 255 bytes, got '],
    [
      'every column among others',
      ['BASE', '*'],
      NAME,
      "columns[1]: wanted a column name; for every column say columns: '*'",
    ],
    ['a column twice', ['BASE', 'BASE'], NAME, 'columns[1]: wanted each column once, got "BASE" again'],
    ['a name in capitals', 'BASE', { name: 'Bill' }, 'name: wanted a name of 1 to 48 of a-z, 0-9 and _'],
    [
      'too many attempts',
      'BASE',
      { ...NAME, maxAttempts: 101 },
      'maxAttempts: wanted a whole number from 1 to 100 where',
    ],
    [
      'no parked cell',
      'BASE',
      { ...NAME, stopAfterParked: 0 },
      'stopAfterParked: wanted a whole number from 1 to 10000',
    ],
    ['half a second', 'BASE', { ...NAME, timeout: Duration.millis(500) }, 'timeout: wanted a time from 1s to 10m'],
    [
      'a retry in a flash',
      'BASE',
      { ...NAME, retryParkedEvery: FLASH },
      'retryParkedEvery: wanted a time from 500ms to 30d',
    ],
  ];
  it.each(cases)('for %s', (_what, columns, options, message) => {
    using app = standInApp();
    const trips = app.store().datastore('trips');
    expect(() => trips.onCell(columns, app.lambda('Fn'), options)).toThrow(
      `trigger ${options.name} of trips: ${message}`,
    );
    expect(() => trips.trigger(options.name)).toThrow(`datastore trips: wanted one of its triggers (none), got`);
  });

  it('for a datastore, a name or a function that cannot be', () => {
    using app = standInApp();
    const store = app.store();
    expect(() => store.datastore('trip')).toThrow('Shop/Store: wanted one of its datastores (trips), got trip');
    const trips = store.datastore('trips');
    const fn = app.lambda('Fn');
    trips.onCell('BASE', fn, NAME);
    expect(() => trips.onCell('BASE', app.lambda('Fn2'), NAME)).toThrow(
      'trigger bill_rider of trips: wanted a name of its own, got that of another trigger',
    );
    expect(() => trips.onCell('BASE', fn, { name: 'other' })).toThrow(
      'trigger other of trips: wanted a function of its own, got Shop/Fn, which is that of trigger bill_rider of trips',
    );
    const imported = LambdaFunction.fromFunctionName(app.stack, 'Imported', 'elsewhere');
    expect(() => trips.onCell('BASE', imported, { name: 'imported' })).toThrow(
      'trigger imported of trips: wanted a function that this app makes, since it needs variables and rights, got the imported Shop/Imported',
    );
    for (const seconds of [89, 361])
      expect(() =>
        trips.onCell('BASE', app.lambda(`Fn${seconds}`, Duration.seconds(seconds)), { name: `after_${seconds}` }),
      ).toThrow(
        `trigger after_${seconds} of trips: wanted a timeout from 90 to 360 s of the function Shop/Fn${seconds} (30 s for each of up to ten cells, and a minute to count and to hand back), got ${seconds} s`,
      );
  });
});

describe('a trigger of the YAML', () => {
  const FILES = {
    'trips/datastore.yaml': 'datastore: trips\nshards: 16\n',
    'trips/triggers/bill_rider.yaml': 'trigger: bill_rider\ndatastore: trips\ncolumns: [BASE]\nfunction: src/bill.ts\n',
    'trips/triggers/elsewhere.yaml': "trigger: elsewhere\ndatastore: trips\ncolumns: '*'\n",
  };

  it('that names a function is to be given it, and one that names none is for consumers elsewhere', () => {
    using app = standInApp();
    const datastores = writeFiles(join(app.folder, 'datastores'), FILES);
    const trips = app.store({ datastores }).datastore('trips');
    expect(() => app.synthesized()).toThrow(
      "trigger bill_rider of trips names the function src/bill.ts: wanted store.datastore('trips').onTrigger('bill_rider', fn) to give it, got none",
    );
    expect(() => trips.onTrigger('elsewhere', app.lambda('Other'))).toThrow(
      'trigger elsewhere of trips: wanted a definition with function, since without one its consumers are elsewhere, got none',
    );
    trips.onTrigger('bill_rider', app.lambda('Fn'));
    expect(() => trips.onTrigger('bill_rider', app.lambda('Second'))).toThrow(
      'trigger bill_rider of trips: wanted one function, got Shop/Second besides Shop/Fn',
    );
    trips.onCell('BASE', app.lambda('Own'), { name: 'own' });
    expect(() => trips.onTrigger('own', app.lambda('Third'))).toThrow(
      'trigger own of trips: wanted one function, got Shop/Third besides Shop/Own',
    );
    expect(resourcesOf(app.synthesized(), 'AWS::Lambda::EventSourceMapping')).toHaveLength(2);
  });
});

describe('a store', () => {
  it('without triggers starts no tailer; with the first that is added it does, and the migration is told of all', () => {
    using without = standInApp();
    without.store();
    const slots = (stacks: ReturnType<typeof without.synthesized>): readonly string[] =>
      propertiesOf(stacks, 'AWS::Scheduler::Schedule')
        .map(({ Description }) => String(Description))
        .filter((text) => text.includes('slot'));
    expect(slots(without.synthesized())).toEqual([]);

    using app = standInApp();
    const trips = app.store({ tailers: 2 }).datastore('trips');
    trips.onCell(['BASE', 'NOTES'], app.lambda('Fn'), {
      ...NAME,
      start: new Date('2026-01-31T08:00:00Z'),
      maxAttempts: 7,
    });
    const queued = trips.queueFor('*', { name: 'elsewhere', maxAttempts: 700, retryParkedEvery: 'never' });
    const stacks = app.synthesized();
    expect(slots(stacks)).toHaveLength(2);
    const { resources, property } = resolvedByName(stacks);
    const [migration] = resources.filter(({ resource }) => resource.Type === 'Custom::SchemalessMigration');
    if (!migration) throw new Error('wanted a migration');
    const wish = readWish({ Groups: property(migration, 'Groups'), Datastores: property(migration, 'Datastores') });
    expect(wish.datastores[0]?.triggers?.map(({ definition }) => definition)).toEqual([
      {
        name: 'bill_rider',
        columns: ['BASE', 'NOTES'],
        function: 'Shop/Fn',
        start: { since: '2026-01-31T08:00:00.000000Z' },
        maxAttempts: 7,
        stopAfterParked: 100,
        retryParkedEveryMs: 600_000,
        timeoutSeconds: 30,
      },
      { name: 'elsewhere', start: 'start', maxAttempts: 700, stopAfterParked: 100, timeoutSeconds: 30 },
    ]);
    expect(queued.queue.fifo).toBe(true);
    expect(resourcesOf(stacks, 'AWS::Lambda::EventSourceMapping')).toHaveLength(1);
    for (const stack of stacks) expect(circleIn(stack)).toEqual([]);
  });

  it('calls an alias, whose function gets what it needs', () => {
    using app = standInApp();
    const fn = app.lambda('Fn');
    const alias = new Alias(app.stack, 'Live', { aliasName: 'live', version: fn.currentVersion as IVersion });
    app
      .store()
      .datastore('trips')
      .onCell('*', alias as IFunction, NAME);
    const stacks = app.synthesized();
    const [mapping] = resourcesOf(stacks, 'AWS::Lambda::EventSourceMapping');
    expect(JSON.stringify(mapping?.Properties?.['FunctionName'])).toContain('Live');
    const called = propertiesOf(stacks, 'AWS::Lambda::Function').filter(
      ({ Environment }) => 'SCHEMALESS_API_URL' in Object(Object(Environment).Variables),
    );
    expect(called).toHaveLength(1);
  });

  it('may lie beside others in a stack, told apart by names that are made', () => {
    using app = standInApp();
    // With a reader, schedules, and what changes their passwords, they would be more than a stack takes.
    app.store({ passwordDays: 0, schedules: false }, 'One');
    app.store({ access: 'mysql', groups: 1, readers: 0, passwordDays: 0 }, 'Two');
    const stacks = app.synthesized();
    const names = propertiesOf(stacks, 'AWS::CloudWatch::Dashboard').map(({ DashboardName }) => DashboardName);
    expect(new Set(names).size).toBe(2);
    const [proxy] = resourcesOf(stacks, 'AWS::RDS::DBProxy');
    expect(proxy?.Properties?.['DBProxyName']).toMatch(/^schemaless-shop-two-[0-9a-f]{8}-group-1$/u);
    // The RDS Data API takes ARNs of 100 characters: 78 of them are not of the logical id.
    const secrets = stacks.flatMap(({ template }) =>
      Object.entries(template.Resources).filter(([, { Type }]) => Type === 'AWS::SecretsManager::Secret'),
    );
    // Seven with passwords, one of the other's owner, and the root key of the one that has a way to it.
    expect(secrets).toHaveLength(9);
    for (const [logicalId] of secrets) expect(logicalId.length).toBeLessThanOrEqual(22);
  });

  it('seals fields where functions reach the root key: behind proxies by an endpoint that is made where that is wished', () => {
    const sealed = [{ column: 'BASE', subject: 'rider', fields: ['name'] }];
    const datastores = [{ datastore: 'trips', shards: 16, sealed }];
    const endpoints = (props: Partial<SchemalessStoreProps>): readonly string[] => {
      using app = standInApp();
      app.store(props);
      const stacks = app.synthesized();
      const [migration] = propertiesOf(stacks, 'Custom::SchemalessMigration');
      if (props.datastores) expect(migration?.['Datastores']).toMatchObject([{ sealed: JSON.stringify(sealed) }]);
      return propertiesOf(stacks, 'AWS::EC2::VPCEndpoint')
        .map(({ ServiceName }) => JSON.stringify(ServiceName))
        .filter((name) => name.includes('secretsmanager'));
    };
    expect(() => endpoints({ access: 'mysql', datastores })).toThrow(
      /sealsFields: wanted true, since trips has sealed/u,
    );
    expect(endpoints({ access: 'mysql' })).toHaveLength(0);
    expect(endpoints({ access: 'mysql', sealsFields: true, datastores })).toHaveLength(1);
    expect(endpoints({ datastores })).toHaveLength(0);
  });

  it('has more groups than a stack takes in further ones, of which AWS refuses none', () => {
    using app = standInApp();
    const home = new Stack(app.stack.node.root, 'Home', { terminationProtection: true });
    const pager = new Topic(new Stack(app.stack.node.root, 'Pager'), 'Topic');
    app.store({
      name: 'trips',
      groups: MOST_GROUPS,
      breakGlass: true,
      backups: { keepDays: 7 },
      encryptionKey: new Key(home, 'Key') as IKey,
      alarmTopics: { urgent: [pager], others: [pager] },
      storageScope: home,
    });
    // A second one, whose groups are told apart from those of the first.
    app.store({ name: 'fares', groups: 3, groupsInFirstStack: 2, storageScope: home }, 'Fares');
    const stacks = app.synthesized();
    const clusters = stacks.map((stack) => resourcesOf([stack], 'AWS::RDS::DBCluster').length);
    expect(clusters.filter((count) => count > 0).toSorted((a, b) => b - a)).toEqual([14, 12, 12, 4, 1]);
    expect(exceededIn(stacks)).toEqual([]);
    const further = home.node.findAll().filter((part) => part instanceof Stack && part !== home);
    expect(further).toHaveLength(4);
    for (const stack of further) expect(stack).toMatchObject({ terminationProtection: true });
  });

  it('has no more groups than a stack takes where the others could not refer to it', () => {
    using app = standInApp();
    const message = 'groups: wanted at most 12 without a storageScope in another stack, which is not nested, got 13';
    const nested = new NestedStack(new Stack(app.stack.node.root, 'Home'), 'Nested');
    for (const [id, storageScope] of Object.entries({ none: undefined, same: app.stack, nested }))
      expect(() => app.store({ groups: 13, ...(storageScope && { storageScope }) }, id)).toThrow(message);
  });

  it('has a key that was brought used by services alone', () => {
    using app = standInApp();
    const trips = app.store({ encryptionKey: new Key(app.stack, 'Key') as IKey }).datastore('trips');
    trips.onCell('BASE', app.lambda('Fn'), NAME);
    const reader = new Role(app.stack, 'Elsewhere', { assumedBy: new AccountRootPrincipal() });
    trips.queueFor('*', { name: 'elsewhere' }).grantConsuming(reader);
    const uses = resourcesOf(app.synthesized(), 'AWS::IAM::Policy').flatMap(
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
    // Who sends, who steers triggers, the function, and who consumes elsewhere.
    expect(services.filter((service) => service.includes('"sqs.'))).toHaveLength(4);
  });

  it('lets people run SQL in an emergency where it says so, with the key that was brought', () => {
    using app = standInApp();
    app.store({ encryptionKey: new Key(app.stack, 'Key') as IKey, breakGlass: true });
    const stacks = app.synthesized();
    for (const { Properties } of resourcesOf(stacks, 'AWS::RDS::DBCluster'))
      expect(Properties).toMatchObject({ EnableHttpEndpoint: true });
    const policy = resourcesOf(stacks, 'AWS::IAM::Policy')
      .map((one) => JSON.stringify(one.Properties))
      .find((text) => text.includes('breakglass'));
    expect(policy).toMatch(/"Action":\["kms:Decrypt","kms:DescribeKey"\].*"kms:ViaService"/u);
    // Nobody is told where no topics were given.
    expect(resourcesOf(stacks, 'AWS::Events::Rule')).toEqual([]);
    using without = standInApp();
    without.store();
    expect(JSON.stringify(without.synthesized())).not.toContain('breakglass');
  });

  it('keeps what it holds, unless it is said to be given up', () => {
    const policies = (removalPolicy?: RemovalPolicy): ReadonlySet<unknown> => {
      using app = standInApp();
      app
        .store(removalPolicy === undefined ? {} : { removalPolicy })
        .datastore('trips')
        .queueFor('*', NAME);
      const stacks = app.synthesized();
      const held = ['AWS::RDS::DBCluster', 'AWS::DynamoDB::Table', 'AWS::SQS::Queue'];
      return new Set(held.flatMap((type) => resourcesOf(stacks, type).map(({ DeletionPolicy }) => DeletionPolicy)));
    };
    expect(policies()).toEqual(new Set(['Retain']));
    expect(policies(RemovalPolicy.DESTROY)).toEqual(new Set(['Delete']));
  });

  it('of objects is that of the YAML', () => {
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
        indexes: [
          { name: 'rider_index', fields: [{ field: 'rider_uuid', type: 'UUID', column_key: 'BASE' }], keys: [] },
        ],
        triggers: [],
      },
    ]);
  });
});

describe('an export by schedule', () => {
  const lake = (app: StandInApp): IBucket => new Bucket(app.stack, 'Lake') as IBucket;

  it('runs the function of the package every so often, and somebody is told when it does not', () => {
    using app = standInApp();
    const trips = app.store().datastore('trips');
    const { location } = trips.exportTo(lake(app), { every: Duration.minutes(15), prefix: 'lake/trips' });
    expect(app.stack.resolve(location)).toMatchObject({
      'Fn::Join': ['', ['s3://', expect.anything(), '/lake/trips']],
    });
    const stacks = app.synthesized();
    const made = propertiesOf(stacks, 'AWS::Lambda::Function').filter(
      ({ Description }) => Description === 'Schemaless: export ndjson of trips',
    );
    expect(made).toHaveLength(1);
    expect(made[0]).toMatchObject({
      Timeout: 900,
      EphemeralStorage: { Size: 2048 },
      Environment: {
        Variables: {
          SCHEMALESS_EXPORT_FORMAT: 'ndjson',
          SCHEMALESS_EXPORT_COMPRESSION: 'gzip',
          SCHEMALESS_DATASTORE: 'trips',
        },
      },
    });
    expect(made[0]).not.toHaveProperty('VpcConfig');
    const starts = propertiesOf(stacks, 'AWS::Scheduler::Schedule').map((schedule) => schedule['ScheduleExpression']);
    expect(starts).toContain('rate(15 minutes)');
    const alarm = propertiesOf(stacks, 'AWS::CloudWatch::Alarm').find(
      ({ MetricName }) => MetricName === METRICS.exportBehindSeconds,
    );
    expect(alarm).toMatchObject({
      Threshold: 2700,
      Period: 900,
      EvaluationPeriods: 3,
      TreatMissingData: 'breaching',
      Dimensions: [
        { Name: 'export', Value: app.stack.resolve(location) },
        { Name: 'service', Value: expect.stringContaining('store') },
      ],
    });
    for (const stack of stacks) expect(circleIn(stack)).toEqual([]);
  });

  it('may be one of several, and of a bucket that is there already', () => {
    using app = standInApp();
    const trips = app.store().datastore('trips');
    const bucket = Bucket.fromBucketName(app.stack, 'Lake', 'our-lake');
    trips.exportTo(bucket);
    trips.exportTo(bucket, { format: 'parquet', prefix: 'parquet/trips' });
    const policies = statementsOf(app.synthesized());
    const written = (role: string): unknown =>
      policies.get(role)?.find(({ actions }) => actions.includes('s3:PutObject'))?.resources;
    expect(written('Storeexporttripsndjson')).toEqual([expect.stringContaining(':s3:::our-lake/trips/part-*"')]);
    expect(written('Storeexporttripsparquet')).toEqual([
      expect.stringContaining(':s3:::our-lake/parquet/trips/part-*"'),
    ]);
  });

  const cases: readonly (readonly [string, ExportOptions, RegExp])[] = [
    ['too often', { every: Duration.minutes(4) }, /trips, every: wanted 5 minutes to a day, .*got 4 minutes$/u],
    ['too seldom', { every: Duration.days(2) }, /trips, every: wanted 5 minutes to a day, .*got 2 days$/u],
    ['everywhere', { prefix: 'lake/*' }, /trips, prefix: wanted names of .*, got lake\/\*$/u],
    ['nowhere', { prefix: '' }, /trips, prefix: wanted names of .*, got $/u],
    ['with a slash too many', { prefix: '/trips/' }, /trips, prefix: wanted names of .*, got \/trips\/$/u],
    ['packed twice', { format: 'parquet', compression: 'gzip' }, /trips, compression: wanted none with parquet/u],
    ['as something else', { format: 'csv' as 'ndjson' }, /trips, format: wanted ndjson or parquet, got csv$/u],
    ['under no name', { name: 'A' }, /trips, name: wanted 1 to 30 of a-z, 0-9 and single hyphens, got A$/u],
  ];
  it.each(cases)('is refused %s', (_what, options, message) => {
    using app = standInApp();
    const trips = app.store().datastore('trips');
    const bucket = lake(app);
    expect(() => trips.exportTo(bucket, options)).toThrow(message);
  });

  it('is refused in the place of another one, or under its name', () => {
    using app = standInApp();
    const trips = app.store().datastore('trips');
    const bucket = lake(app);
    trips.exportTo(bucket);
    expect(() => trips.exportTo(bucket, { name: 'other' })).toThrow(
      /wanted a name and a place of its own, got one of/u,
    );
    expect(() => trips.exportTo(bucket, { prefix: 'other' })).toThrow(/wanted a name and a place of its own/u);
  });
});

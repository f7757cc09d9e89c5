import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { ENVIRONMENT_NAMES, ENVIRONMENTS, type EnvironmentName } from '../../../infra/environments.ts';
import { checkEnvironment } from '../../../infra/constructs/check-environment.ts';
import { checkTypes } from '../../../infra/local/template/resources/local-resources.ts';
import { DEFINING_HANDLER, CONSOLE_ROUTES, GATEWAY_ROUTES, ROUTES } from '../../../shared/api/routes.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { circleIn } from '../support/references.ts';
import { statementsOf } from '../support/statements.ts';
import { propertiesOf, resourcesOf, synthesized } from '../support/synthesized.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { mostVariableBytes } from '../support/variable-bytes.ts';

/** A part of the manifest of what was synthesized. */
interface Artifact {
  readonly type: string;
  readonly properties?: { readonly terminationProtection?: boolean };
}

const folder = folderOfTests();
/** Where datastores are defined by deployments alone there is no function that does. */
const apiFunctions = (environment: EnvironmentName) =>
  [...new Set(ROUTES.map(({ handler }) => handler))].filter(
    (handler) => handler !== DEFINING_HANDLER || ENVIRONMENTS[environment].definedByApi !== undefined,
  );
/** One machine has no account to ask. */
const preflights = (environment: EnvironmentName) => (environment === 'local' ? 0 : 1);
/** They loop until their successor has taken over. */
const LOOPS = 4;
const definitions = loadDefinitions(join(PROJECT_ROOT, 'infra/datastores'));
const triggerFunctions = definitions.datastores.flatMap(({ name: datastore, triggers }) =>
  triggers.filter((trigger) => trigger.function !== undefined).map(({ name }) => ({ datastore, name })),
);

describe.each(ENVIRONMENT_NAMES)('the app of %s', (environment) => {
  const stacks = synthesized(join(folder.path, environment), { environment });
  const properties = (type: string) => propertiesOf(stacks, type);

  it('has every route, and one for all that is none, each only for callers that IAM allows', () => {
    const routes = properties('AWS::ApiGatewayV2::Route');
    // Browsers sign no preflight request: the gateway answers it by itself, where no route takes it.
    const ofOthers =
      ENVIRONMENTS[environment].corsOrigins.length > 0
        ? ['GET /', ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /{proxy+}`)]
        : ['$default'];
    const answered = [...GATEWAY_ROUTES, ...(ENVIRONMENTS[environment].console === true ? CONSOLE_ROUTES : [])];
    expect(routes.map(({ RouteKey }) => RouteKey).sort()).toEqual(
      [...ofOthers, ...answered.map(({ method, path }) => `${method} ${path}`)].sort(),
    );
    expect(new Set(routes.map(({ AuthorizationType }) => AuthorizationType))).toEqual(new Set(['AWS_IAM']));
  });

  it('lets pages of other origins ask on one machine alone, if they are of it, and send and read what they need', () => {
    const [api] = properties('AWS::ApiGatewayV2::Api');
    const cors: unknown = api?.['CorsConfiguration'];
    if (environment === 'local')
      expect(cors).toMatchObject({
        AllowOrigins: ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*'],
        AllowMethods: ['GET', 'PUT', 'POST', 'DELETE'],
        AllowHeaders: expect.arrayContaining(['authorization', 'content-type', 'x-request-id']),
        ExposeHeaders: expect.arrayContaining(['x-request-id', 'retry-after']),
      });
    else expect(cors).toBeUndefined();
  });

  it('has copies of all clusters and tables made each day, where it wants any, in a vault that stays', () => {
    const [plan] = properties('AWS::Backup::BackupPlan');
    const { backups, groups } = ENVIRONMENTS[environment];
    if (!backups) return expect(plan).toBeUndefined();
    expect(plan).toMatchObject({
      BackupPlan: { BackupPlanRule: [{ Lifecycle: { DeleteAfterDays: backups.keepDays } }] },
    });
    const [selection] = properties('AWS::Backup::BackupSelection');
    expect(selection).toMatchObject({ BackupSelection: { Resources: { length: groups + 2 } } });
    expect(resourcesOf(stacks, 'AWS::Backup::BackupVault')).toMatchObject([{ DeletionPolicy: 'Retain' }]);
  });

  it('has what holds data in one stack, called as ever: under another name it would be made anew, and empty', () => {
    expect(stacks.map(({ name }) => name).sort()).toEqual(
      ['service', 'storage'].map((part) => `Schemaless-${environment}-${part}`),
    );
    const storage = stacks.find(({ name }) => name.endsWith('-storage'));
    for (const [id, type] of [
      ['tablestopology03C0A74D', 'AWS::DynamoDB::Table'],
      ['tablesstateC940E36A', 'AWS::DynamoDB::Table'],
      ['group1clusterA0F6B135', 'AWS::RDS::DBCluster'],
      ['group1clusteraE37D33B1', 'AWS::RDS::DBInstance'],
      ['Secretgroup1', 'AWS::SecretsManager::Secret'],
      ['networkvpcFB59E56F', 'AWS::EC2::VPC'],
      // Functions have passwords where they have no tokens.
      ...(ENVIRONMENTS[environment].databaseAuth === 'secret'
        ? ([['Secretgroupswrite', 'AWS::SecretsManager::Secret']] as const)
        : []),
    ] as const)
      expect([id, storage?.template.Resources[id]?.Type]).toEqual([id, type]);
  });

  it('keeps its tables when a protected stack goes, recoverable to any second', () => {
    const tables = resourcesOf(stacks, 'AWS::DynamoDB::Table');
    const policy = ENVIRONMENTS[environment].protectedFromDeletion ? 'Retain' : 'Delete';
    // Where everything is, leases and offsets, and keys.
    expect(tables).toHaveLength(3);
    for (const table of tables) {
      expect(table).toMatchObject({ DeletionPolicy: policy, UpdateReplacePolicy: policy });
      expect(table.Properties).toMatchObject({
        BillingMode: 'PAY_PER_REQUEST',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true },
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      });
    }
  });

  it('is deleted by no mistake where it is protected: neither its data nor its queues', () => {
    const manifest = JSON.parse(readFileSync(join(folder.path, environment, 'manifest.json'), 'utf8'));
    const found = Object.values(manifest.artifacts as Record<string, Artifact>)
      .filter(({ type }) => type === 'aws:cloudformation:stack')
      .map(({ properties }) => properties?.terminationProtection ?? false);
    const wanted = ENVIRONMENTS[environment].protectedFromDeletion;
    expect([found.length > 1, new Set(found)]).toEqual([true, new Set([wanted])]);
  });

  it('leaves nothing behind when it is deleted, unless it is protected', () => {
    if (ENVIRONMENTS[environment].protectedFromDeletion) return;
    const kept = stacks.flatMap(({ template }) =>
      Object.entries(template.Resources).filter(([, { DeletionPolicy = 'Delete' }]) => DeletionPolicy !== 'Delete'),
    );
    expect(kept.map(([name]) => name)).toEqual([]);
  });

  it('has as many clusters and nodes as the environment says, encrypted, with the settings that the store relies on', () => {
    const { groups, readersPerGroup, protectedFromDeletion } = ENVIRONMENTS[environment];
    const clusters = resourcesOf(stacks, 'AWS::RDS::DBCluster');
    expect(clusters).toHaveLength(groups);
    expect(properties('AWS::RDS::DBInstance')).toHaveLength(groups * (1 + readersPerGroup));
    for (const cluster of clusters) {
      expect(cluster).toMatchObject({ DeletionPolicy: protectedFromDeletion ? 'Retain' : 'Delete' });
      expect(cluster.Properties).toMatchObject({
        StorageEncrypted: true,
        BackupRetentionPeriod: protectedFromDeletion ? 35 : 1,
        DeletionProtection: protectedFromDeletion,
        EngineVersion: expect.stringContaining('mysql_aurora.3.10.'),
      });
    }
    expect(properties('AWS::RDS::DBClusterParameterGroup')).toEqual([
      expect.objectContaining({
        Parameters: expect.objectContaining({ time_zone: 'UTC', require_secure_transport: 'ON' }),
      }),
    ]);
    expect(properties('AWS::RDS::DBParameterGroup')).toEqual([
      expect.objectContaining({ Parameters: { innodb_lock_wait_timeout: '3', max_allowed_packet: '67108864' } }),
    ]);
  });

  it('repeats neither schedules nor functions', () => {
    const schedules = properties('AWS::Scheduler::Schedule');
    expect(schedules.map(({ Description }) => Description).sort()).toEqual([
      'Starts drain-buffer each minute',
      'Starts move-shards each minute',
      'Starts repair-indexes each minute',
      ...Array.from(
        { length: ENVIRONMENTS[environment].tailers },
        (_, slot) => `Starts tail-shards each minute, {"slot":${slot}}`,
      ),
    ]);
    for (const schedule of schedules) {
      expect(schedule).toMatchObject({
        ScheduleExpression: 'rate(1 minute)',
        Target: { RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } },
      });
    }
    const retries = properties('AWS::Lambda::EventInvokeConfig').map(
      ({ MaximumRetryAttempts }) => MaximumRetryAttempts,
    );
    expect(new Set(retries)).toEqual(new Set([0]));
    // Those of the routes, the schedules and the triggers, the two of the migration, the preflight, and what changes
    // passwords.
    expect(retries).toHaveLength(
      apiFunctions(environment).length + LOOPS + triggerFunctions.length + 2 + 2 * preflights(environment),
    );
  });

  it('gives functions no more time than the API has', () => {
    const functions = resourcesOf(stacks, 'AWS::Lambda::Function').filter(
      ({ Properties }) => Properties?.['Handler'] === 'index.handler',
    );
    expect(new Set(functions.map(({ Properties }) => Properties?.['Runtime']))).toEqual(new Set(['nodejs24.x']));
    const ofStore = functions.filter(
      ({ Properties }) => !String(Properties?.['Description']).startsWith('Schemaless: trigger '),
    );
    const timeouts = ofStore.map(({ Properties }) => Number(Properties?.['Timeout']));
    expect(timeouts.sort((a, b) => a - b)).toEqual([
      ...apiFunctions(environment).map(() => 28),
      // What changes passwords.
      ...(environment === 'local' ? [] : [360]),
      ...Array.from({ length: LOOPS }, () => 900),
    ]);
    for (const { Metadata } of functions) {
      const bundle = join(folder.path, environment, String(Metadata?.['aws:asset:path']));
      expect(existsSync(join(bundle, 'index.mjs'))).toBe(true);
    }
  });

  it('hands the definitions of the indexes to the migration, which runs before anything repairs or drains', () => {
    const [migration] = properties('Custom::SchemalessMigration');
    const datastores = (migration?.['Datastores'] ?? []) as readonly {
      readonly name: string;
      readonly shards: number;
      readonly indexes: string;
    }[];
    expect(datastores.map(({ name, indexes }) => [name, JSON.parse(indexes)])).toEqual(
      definitions.datastores.map(({ name, indexes }) => [name, indexes]),
    );
    expect(datastores.map(({ name, shards }) => [name, Number(shards)])).toEqual([
      ['smoke', 16],
      ['trips', { prod: 4096, staging: 768, small: 768, local: 64 }[environment as string] ?? 256],
    ]);
    const schedules = resourcesOf(stacks, 'AWS::Scheduler::Schedule');
    for (const schedule of schedules)
      expect(Object(schedule).DependsOn).toContainEqual(expect.stringMatching(/^migrationresource/u));
  });

  it('lets functions write no table but those they have to', () => {
    const writable = [...statementsOf(stacks)].map(([role, statements]): readonly [string, readonly string[]] => {
      const written = statements
        .filter(({ actions }) => actions.includes('dynamodb:DeleteItem'))
        .flatMap(({ resources }) => resources);
      return [
        role,
        ['state', 'topology'].filter((table) => written.some((resource) => resource.includes(`tables${table}`))),
      ];
    });
    expect(Object.fromEntries(writable.filter(([, tables]) => tables.length > 0))).toEqual({
      ...(ENVIRONMENTS[environment].definedByApi && { definedatastores: ['state', 'topology'] }),
      drainbuffer: ['state', 'topology'],
      erasecells: ['state'],
      managemoves: ['state', 'topology'],
      managetriggers: ['state'],
      migrationisComplete: ['state', 'topology'],
      moveshards: ['state', 'topology'],
      repairindexes: ['state', 'topology'],
      tailshards: ['state', 'topology'],
      ...Object.fromEntries(
        triggerFunctions.map(({ datastore, name }) => [`trigger${datastore}${name.replaceAll('_', '')}`, ['state']]),
      ),
    });
  });

  it('tells who records erasures how long backups are kept', () => {
    const told = properties('AWS::Lambda::Function').flatMap(({ Description, Environment }) => {
      const days: unknown = Object(Object(Environment).Variables).SCHEMALESS_BACKUP_DAYS;
      return days === undefined ? [] : [[Description, days]];
    });
    const days = { local: '0', dev: '1', small: '35', staging: '1', prod: '90' }[environment];
    expect(told.sort()).toEqual([
      ['Schemaless: completes, builds and drops indexes', days],
      ['Schemaless: erases cells, and shows what was erased', days],
    ]);
  });

  it('throttles its API, and logs who asked what, for as long as it says', () => {
    const { throttle, logDays, protectedFromDeletion } = ENVIRONMENTS[environment];
    const [stage, ...others] = properties('AWS::ApiGatewayV2::Stage');
    expect(others).toEqual([]);
    expect(stage).toMatchObject({
      StageName: '$default',
      DefaultRouteSettings: { ThrottlingRateLimit: throttle.ratePerSecond, ThrottlingBurstLimit: throttle.burst },
    });
    expect(JSON.parse(Object(stage?.['AccessLogSettings']).Format)).toMatchObject({
      caller: '$context.identity.userArn',
      status: '$context.status',
    });
    const ofStore = properties('AWS::Lambda::Function').filter(({ Description }) =>
      String(Description).startsWith('Schemaless: '),
    );
    for (const { LoggingConfig } of ofStore) expect(LoggingConfig).toMatchObject({ LogGroup: expect.anything() });
    const logs = resourcesOf(stacks, 'AWS::Logs::LogGroup').filter(
      ({ Properties }) => Properties?.['RetentionInDays'] === logDays,
    );
    // Besides those of the API, of the frameworks that call migration and preflight, of the network, of clusters and
    // proxies.
    const { groups, proxy } = ENVIRONMENTS[environment];
    expect(logs).toHaveLength(ofStore.length + 3 + preflights(environment) + groups * (proxy ? 2 : 1));
    for (const log of logs) expect(log).toMatchObject({ DeletionPolicy: protectedFromDeletion ? 'Retain' : 'Delete' });
  });

  it('has alarms whose texts lead to what to do, and a dashboard', () => {
    const sections = [
      ...readFileSync(join(PROJECT_ROOT, 'infra/docs/operations/runbook.md'), 'utf8').matchAll(
        /^## (?<name>[a-z-]+)\n\n\*\*Means\.\*\* [^#]*\*\*Look at\.\*\* [^#]*\*\*Do\.\*\* /gmu,
      ),
    ].map(({ groups }) => groups?.['name']);
    const named = properties('AWS::CloudWatch::Alarm').map(
      ({ AlarmDescription }) =>
        /^Schemaless: .*\. See infra\/docs\/operations\/runbook\.md#(?<section>[a-z-]+)$/u.exec(
          String(AlarmDescription),
        )?.groups?.['section'],
    );
    expect(new Set(named).difference(new Set(sections))).toEqual(new Set());
    // Readers lag, and proxies refuse, where there are some; no environment of this project is exported by a schedule.
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
    expect(properties('AWS::CloudWatch::Dashboard')).toHaveLength(1);
  });

  it('tells somebody of each alarm, and of it when it is over: those that the runbook calls urgent by a topic of their own', () => {
    const runbook = readFileSync(join(PROJECT_ROOT, 'infra/docs/operations/runbook.md'), 'utf8');
    const [, list = ''] = /^.*Urgent are ([^:]+):/msu.exec(runbook) ?? [];
    const urgent = new Set(list.split(/,|\band\b/u).map((name) => name.trim()));
    const topics = resourcesOf(stacks, 'AWS::SNS::Topic');
    expect(topics).toHaveLength(environment === 'local' ? 0 : 2);
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

  it('gives functions less environment than Lambda takes', () => {
    expect(mostVariableBytes(stacks)).toBeLessThan(4096);
  });

  it('lets functions reach MySQL in one way: over the Data API of its clusters, from no VPC, or inside theirs', () => {
    const { access, groups } = ENVIRONMENTS[environment];
    const overDataApi = access === 'data-api';
    // By which people run SQL in an emergency, too.
    for (const { EnableHttpEndpoint } of properties('AWS::RDS::DBCluster'))
      expect(EnableHttpEndpoint ?? false).toBe(overDataApi || environment !== 'local');
    const ofStore = properties('AWS::Lambda::Function').filter(
      ({ Environment }) => 'SCHEMALESS_ACCESS' in Object(Object(Environment).Variables),
    );
    for (const { Environment, VpcConfig } of ofStore) {
      expect(Object(Environment).Variables).toMatchObject({ SCHEMALESS_ACCESS: access });
      expect(VpcConfig !== undefined).toBe(ENVIRONMENTS[environment].functionsInVpc);
    }
    const granted = [...statementsOf(stacks)].flatMap(([role, statements]) =>
      statements
        .filter(({ actions }) => actions.some((action) => action.startsWith('rds-data:')))
        .map((statement) => ({ ...statement, role })),
    );
    const [changing, ...further] = granted.filter(({ role }) => role === 'passwordswork');
    expect([changing?.resources.length, further]).toEqual([environment === 'local' ? undefined : 1, []]);
    const running = granted.filter((one) => one !== changing);
    for (const { actions, resources } of running) {
      expect(actions).toEqual(['rds-data:ExecuteStatement']);
      // The role for emergencies reaches what is to take a cluster's place, too.
      expect(resources.filter((resource) => !resource.includes('-new'))).toHaveLength(groups);
      for (const resource of resources) expect(resource).not.toContain('*');
    }
    const people = environment === 'local' ? 0 : 1;
    expect(running).toHaveLength((overDataApi ? ofStore.length : 0) + people);
  });

  it('has nothing that waits for itself in a circle', () => {
    for (const stack of stacks) expect(circleIn(stack)).toEqual([]);
  });

  it('is all known to the local stack', () => {
    expect(() => checkTypes(stacks)).not.toThrow();
  });
});

describe('an environment', () => {
  it('is named on the command line', () => {
    expect(() => synthesized(folder.path, {})).toThrow(
      'environment: wanted one of local, dev, small, staging, prod (-c environment=NAME), got undefined',
    );
    expect(() => synthesized(folder.path, { environment: 'test' })).toThrow(/got "test"/u);
  });

  it('is not changed on the command line, but for the local one', () => {
    const refused = [
      [{ environment: 'prod', groups: '2' }, /groups: wanted nothing/u],
      [{ environment: 'local', groups: 'two' }, 'groups: wanted a whole number from 1 to 20, got "two"'],
      [{ environment: 'local', tailers: '65' }, 'tailers: wanted a whole number from 1 to 64, got "65"'],
      [{ environment: 'dev', tailers: '2' }, /tailers: wanted nothing/u],
    ] as const;
    for (const [context, message] of refused) expect(() => synthesized(folder.path, context)).toThrow(message);
    expect(() => checkEnvironment({ ...ENVIRONMENTS.prod, tailers: 0 })).toThrow(
      'prod.tailers: wanted a whole number from 1 to 64, got 0',
    );
  });

  it('of dev and the local one can be without schedules, and their alarms', () => {
    const stacks = synthesized(join(folder.path, 'at-rest'), { environment: 'dev', schedules: 'off' });
    expect(resourcesOf(stacks, 'AWS::Scheduler::Schedule')).toEqual([]);
    expect(JSON.stringify(resourcesOf(stacks, 'AWS::CloudWatch::Alarm'))).not.toContain('loop-stopped');
    expect(propertiesOf(stacks, 'AWS::RDS::DBCluster')).toMatchObject([
      { ServerlessV2ScalingConfiguration: { MinCapacity: 0, MaxCapacity: 4 } },
    ]);
    expect(() => synthesized(folder.path, { environment: 'prod', schedules: 'off' })).toThrow(
      /schedules: wanted nothing/u,
    );
    expect(() => synthesized(folder.path, { environment: 'dev', schedules: 'sometimes' })).toThrow(
      'schedules: wanted on or off, got "sometimes"',
    );
  });

  it('cannot buffer on more groups than may be lost', () => {
    expect(() => checkEnvironment({ ...ENVIRONMENTS.prod, bufferCopies: 7 })).toThrow(
      'prod.bufferCopies: wanted at most 6 with 8 groups (groups - 2), got 7',
    );
  });

  it('has functions where its way to MySQL is', () => {
    expect(() => checkEnvironment({ ...ENVIRONMENTS.prod, functionsInVpc: false })).toThrow(
      /prod\.functionsInVpc: wanted true/u,
    );
    expect(() => checkEnvironment({ ...ENVIRONMENTS.dev, functionsInVpc: true })).toThrow(
      /dev\.functionsInVpc: wanted false/u,
    );
    expect(() => synthesized(folder.path, { environment: 'local', access: 'http' })).toThrow(
      'access: wanted mysql or data-api, got "http"',
    );
  });
});

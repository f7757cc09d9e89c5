import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { ENVIRONMENT_NAMES, ENVIRONMENTS, type EnvironmentName } from '../../../infra/environments.ts';
import { DEFINING_HANDLER, ROUTES } from '../../../shared/api/operations.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { statementsOf } from '../support/statements.ts';
import { appOf, propertiesOf, resourcesOf, synthesized } from '../support/synthesized.ts';
import { exceededIn } from '../support/template-limits.ts';

const apiFunctions = (environment: EnvironmentName) =>
  [...new Set(ROUTES.map(({ handler }) => handler))].filter(
    (handler) => handler !== DEFINING_HANDLER || ENVIRONMENTS[environment].definedByApi !== undefined,
  );
const folder = folderOfTests();
/** The functions that loop until their successor has taken over. */
const LOOPS = 4;
const definitions = loadDefinitions(join(PROJECT_ROOT, 'infra/datastores'));
const triggerFunctions = definitions.datastores.flatMap(({ name: datastore, triggers }) =>
  triggers.filter((trigger) => trigger.function !== undefined).map(({ name }) => ({ datastore, name })),
);

describe.each(ENVIRONMENT_NAMES)('the functions of %s', (environment) => {
  const { stacks } = appOf({ environment });
  const properties = (type: string) => propertiesOf(stacks, type);

  it('repeats neither schedules nor functions', () => {
    const schedules = properties('AWS::Scheduler::Schedule');
    expect(schedules.map(({ Description }) => Description).sort()).toEqual([
      'Starts drain-buffer each minute',
      'Starts maintenance each minute',
      'Starts move-shards each minute',
      ...Array.from(
        { length: ENVIRONMENTS[environment].tailers },
        (_, slot) => `Starts tail-shards each minute, {"slot":${slot}}`,
      ),
    ]);
    expect(schedules.flatMap(({ Target }) => Object(Target).Input ?? [])).toEqual(
      Array.from({ length: ENVIRONMENTS[environment].tailers }, (_, slot) => JSON.stringify({ slot })),
    );
    const told = properties('AWS::Lambda::Function').flatMap(
      (one) => Object(one['Environment']).Variables?.SCHEMALESS_TAILERS ?? [],
    );
    expect(told).toEqual([String(ENVIRONMENTS[environment].tailers)]);
    for (const schedule of schedules)
      expect(schedule).toMatchObject({
        ScheduleExpression: 'rate(1 minute)',
        Target: { RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } },
      });
    const retries = properties('AWS::Lambda::EventInvokeConfig').map(
      ({ MaximumRetryAttempts }) => MaximumRetryAttempts,
    );
    expect(new Set(retries)).toEqual(new Set([0]));
    // Those of the routes, the schedules and the triggers, the two of the migration, the preflight, and what changes
    // passwords.
    expect(retries).toHaveLength(
      apiFunctions(environment).length + LOOPS + triggerFunctions.length + 2 + (environment === 'local' ? 0 : 2),
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
    expect(ofStore.map(({ Properties }) => Number(Properties?.['Timeout'])).sort((a, b) => a - b)).toEqual([
      ...apiFunctions(environment).map(() => 28),
      // The password rotation.
      ...(environment === 'local' ? [] : [360]),
      ...Array.from({ length: LOOPS }, () => 900),
    ]);
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
    for (const schedule of resourcesOf(stacks, 'AWS::Scheduler::Schedule'))
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
      maintenance: ['state', 'topology'],
      tailshards: ['state', 'topology'],
      ...Object.fromEntries(
        triggerFunctions.map(({ datastore, name }) => [`trigger${datastore}${name.replaceAll('_', '')}`, ['state']]),
      ),
    });
  });

  it('tells functions that record erasures how long backups are kept', () => {
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

  it('gives functions less environment than Lambda takes, and policies and templates less than other limits', () => {
    expect(exceededIn(stacks)).toEqual([]);
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
});

it('each function of prod, those of triggers included, has its bundle', () => {
  const stacks = synthesized(folder.path, { environment: 'prod' });
  const functions = resourcesOf(stacks, 'AWS::Lambda::Function').filter(
    ({ Properties }) => Properties?.['Handler'] === 'index.handler',
  );
  const paths = functions.map(({ Metadata }) => join(folder.path, String(Metadata?.['aws:asset:path']), 'index.mjs'));
  expect(new Set(paths).size).toBeGreaterThan(triggerFunctions.length + LOOPS);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { checkEnvironment } from '../../../infra/constructs/store-options.ts';
import { connectionBudget, loopInstances, loopSlots } from '../../../infra/constructs/connection-budget.ts';
import { ENVIRONMENT_NAMES, ENVIRONMENTS } from '../../../infra/environments.ts';
import { MADE_USERS, userName } from '../../../shared/topology/database-users.ts';
import { statementsOf } from '../support/statements.ts';
import { appOf, propertiesOf, resourcesOf } from '../support/synthesized.ts';

/** The root key, which is no password. */
const ROOT_KEY = /rootkey/u;

/** The MySQL user of each function, by the start of its role's logical id. */
const ALWAYS: Readonly<Record<string, string>> = {
  writecells: 'write',
  readcells: 'read',
  queryindex: 'read',
  managetriggers: 'read',
  erasecells: 'erase',
  drainbuffer: 'write',
  maintenance: 'repair',
  moveshards: 'move',
  tailshards: 'tail',
  migrationisComplete: 'owner',
};

describe.each(ENVIRONMENT_NAMES)('the functions of %s', (environment) => {
  const USERS: Readonly<Record<string, string>> = {
    ...ALWAYS,
    ...(ENVIRONMENTS[environment].definedByApi && { definedatastores: 'owner' }),
  };
  const { groups, databaseAuth, proxy, instances, tailers, access, tracing } = ENVIRONMENTS[environment];
  const { stacks } = appOf({ environment });
  const functions = propertiesOf(stacks, 'AWS::Lambda::Function');
  const statements = [...statementsOf(stacks)];
  const allowed = (action: string): readonly (readonly [string, readonly string[]])[] =>
    statements
      .map(([role, given]) => [role, given.filter(({ actions }) => actions.includes(action))] as const)
      .map(([role, some]) => [role, some.flatMap(({ resources }) => resources)] as const)
      .filter(([, resources]) => resources.length > 0);

  it('log in as a user that may do what the function has to, in one way', () => {
    const ofStore = functions.filter(
      ({ Environment }) => 'SCHEMALESS_DATABASE_USER' in Object(Object(Environment).Variables),
    );
    expect(ofStore).toHaveLength(Object.keys(USERS).length);
    for (const { Role, Environment } of ofStore) {
      const [role] =
        Object.entries(USERS).find(([start]) => JSON.stringify(Role).includes(`"${start}ServiceRole`)) ?? [];
      expect([role, Object(Environment).Variables]).toMatchObject([
        role,
        { SCHEMALESS_DATABASE_USER: USERS[role ?? ''], SCHEMALESS_DATABASE_AUTH: databaseAuth },
      ]);
    }
  });

  it('have the root key of sealed fields read by those alone who seal, open or sign', () => {
    const readers = allowed('secretsmanager:GetSecretValue').filter(([, resources]) =>
      resources.some((resource) => ROOT_KEY.test(resource)),
    );
    // Behind proxies functions have no way to secrets, unless the environment says `sealsFields`.
    const wanted = databaseAuth === 'iam' ? [] : ['erasecells', 'queryindex', 'readcells', 'writecells'];
    expect(readers.map(([role]) => role).sort()).toEqual(wanted);
  });

  it('read the secrets of that user alone, or none where tokens do; the migration reads those whose passwords it gives', () => {
    const readable = new Map(allowed('secretsmanager:GetSecretValue').filter(([role]) => role in USERS));
    for (const [role, user] of Object.entries(USERS)) {
      const isMigration = role.startsWith('migration') || role === 'definedatastores';
      // One for all groups; the migration reads those of the owners, too.
      const wanted = databaseAuth === 'iam' ? 0 : isMigration ? groups + MADE_USERS.length : 1;
      const resources = new Set((readable.get(role) ?? []).filter((resource) => !ROOT_KEY.test(resource)));
      expect([role, resources.size]).toEqual([role, wanted]);
      if (!isMigration)
        for (const resource of resources) expect(resource).toMatch(new RegExp(`Secretgroups${user}[^a-z]`, 'u'));
    }
  });

  it('log in with a token as no other user', () => {
    const all = allowed('rds-db:connect');
    const ofProxies = all.filter(([role]) => role.includes('proxy'));
    expect(ofProxies).toHaveLength(databaseAuth === 'iam' ? groups : 0);
    for (const [, resources] of ofProxies)
      expect(resources.map((resource) => /dbuser:\*\/(\w+)/u.exec(resource)?.[1]).toSorted()).toEqual(
        MADE_USERS.map(userName).toSorted(),
      );
    const granted = new Map(all.filter((one) => !ofProxies.includes(one)));
    expect([...granted.keys()].sort()).toEqual(databaseAuth === 'iam' ? Object.keys(USERS).sort() : []);
    for (const [role, resources] of granted) {
      expect(resources).toHaveLength(groups);
      for (const resource of resources) {
        expect(resource).toContain(`/${userName(USERS[role] as 'owner')}"`);
        expect(resource).not.toContain('*');
      }
    }
  });

  it('depend on no id that a restored cluster lacks', () => {
    const templates = stacks.map(({ template }) => JSON.stringify(template)).join('\n');
    expect(templates.match(/Db(?:Cluster|i)ResourceId/giu) ?? []).toEqual([]);
  });

  it('reach MySQL through proxies where there are some, over TLS, and leave their clusters alone', () => {
    const [proxies, endpoints] = ['AWS::RDS::DBProxy', 'AWS::RDS::DBProxyEndpoint'].map((type) =>
      propertiesOf(stacks, type),
    );
    expect([proxies?.length, endpoints?.length]).toEqual(proxy ? [groups, groups] : [0, 0]);
    for (const one of proxies ?? []) {
      expect(one).toMatchObject({ EngineFamily: 'MYSQL', RequireTLS: true });
      const auth = Object(one)['Auth'] as readonly object[];
      // With tokens from end to end only the cluster's owner has a password.
      expect(auth).toHaveLength(databaseAuth === 'iam' ? 1 : 1 + MADE_USERS.length);
      expect(Object(one)['DefaultAuthScheme']).toBe(databaseAuth === 'iam' ? 'IAM_AUTH' : undefined);
      for (const way of auth)
        expect(way).toMatchObject({ AuthScheme: 'SECRETS', IAMAuth: databaseAuth === 'iam' ? 'REQUIRED' : 'DISABLED' });
    }
    const names = [
      ...(proxies ?? []).map(({ DBProxyName }) => DBProxyName),
      ...(endpoints ?? []).map(({ DBProxyEndpointName }) => DBProxyEndpointName),
    ];
    expect(new Set(names).size).toBe(names.length);
    for (const endpoint of endpoints ?? []) expect(endpoint).toMatchObject({ TargetRole: 'READ_ONLY' });
    const [migration] = propertiesOf(stacks, 'Custom::SchemalessMigration');
    expect(JSON.stringify(migration?.['Groups']).includes('proxy')).toBe(proxy);
    const rules = propertiesOf(stacks, 'AWS::EC2::SecurityGroupIngress').map((rule) => JSON.stringify(rule));
    const fromFunctions = rules.filter((rule) => rule.includes('Functions of the store'));
    expect(fromFunctions).toHaveLength(groups);
    for (const rule of fromFunctions) expect(/"GroupId":[^}]*proxy/u.test(rule)).toBe(proxy);
  });

  it('are as many at once as is reserved for them, and are traced', () => {
    const reserved = functions.filter(({ ReservedConcurrentExecutions }) => ReservedConcurrentExecutions !== undefined);
    expect(reserved.map(({ ReservedConcurrentExecutions }) => ReservedConcurrentExecutions).sort()).toEqual(
      (instances ? [...Object.values(instances), 3, 3, 3, 2 * tailers + 2] : []).sort(),
    );
    const ages = propertiesOf(stacks, 'AWS::Lambda::EventInvokeConfig').map(
      (one) => Object(one).MaximumEventAgeInSeconds,
    );
    // Those that a schedule starts each minute, and the migration.
    expect(ages.filter((seconds) => seconds === 60)).toHaveLength(5);
    // The one that asks the account before all else is there is no part of a request's way.
    const ofStore = functions.filter(({ Description }) =>
      /^Schemaless: (?!asks the account)/u.test(String(Description)),
    );
    for (const { TracingConfig } of ofStore) expect(TracingConfig).toEqual(tracing ? { Mode: 'Active' } : undefined);
  });

  it('get new code once the tables and users that it needs are there, and run on engines that only deployments upgrade', () => {
    const waiting = resourcesOf(stacks, 'AWS::Lambda::Function').filter(
      ({ Properties }) =>
        (Object(Object(Properties?.['Environment']).Variables).SCHEMALESS_DATABASE_USER ?? 'owner') !== 'owner',
    );
    expect(waiting).toHaveLength(Object.values(USERS).filter((user) => user !== 'owner').length);
    for (const one of waiting)
      expect(Object(one).DependsOn).toContainEqual(expect.stringMatching(/^migrationresource/u));
    for (const instance of propertiesOf(stacks, 'AWS::RDS::DBInstance'))
      expect(instance).toMatchObject({ AutoMinorVersionUpgrade: false });
  });

  it('hold few connections, and none where there are none', () => {
    const held = functions.flatMap(({ Environment }) =>
      Number(Object(Object(Environment).Variables).SCHEMALESS_CONNECTIONS ?? 0),
    );
    expect(Math.max(...held)).toBe(access === 'mysql' ? 8 : 1);
  });
});

describe('the connections of an environment', () => {
  it('fit into what a node takes, with every one of them pinned', () => {
    const budget = connectionBudget(ENVIRONMENTS.prod);
    // 180 + 120 + 55 + 5 + 2 instances by 3 and a health check, (3 + 3 + 3 + 10 + 2) by 8 and one. The limit is nine
    // tenths of the 2,000 that 16 ACU allow.
    expect(budget).toMatchObject({ wanted: 1448 + 189, unpinned: 383, allowed: 1800 });
    expect(connectionBudget(ENVIRONMENTS.dev)).toBeUndefined();
    const each = (of: string): unknown => budget?.shares.find(({ name }) => name === of)?.connections;
    expect(readFileSync(join(PROJECT_ROOT, 'infra/docs/operations/runbook.md'), 'utf8')).toContain(
      `Each opens up to ${each('write-cells')} connections to a writer, a scheduled function ${each('tail-shards')}.`,
    );
  });

  it('count the slots of the drain and of the maintenance, by groups and planned writes', () => {
    const { small, staging, prod, local } = ENVIRONMENTS;
    expect([small, staging, prod, local].map(loopSlots)).toEqual([1, 1, 1, 1]);
    expect([8, 9, 40, 100].map((groups) => loopSlots({ groups }))).toEqual([1, 2, 5, 13]);
    const writing = (writers: number, groups = 8) => loopSlots({ groups, instances: { 'write-cells': writers } });
    expect([209, 210, 834].map((writers) => writing(writers))).toEqual([1, 2, 4]);
    expect(writing(5000, 3), 'a slot without groups has nothing to drain').toBe(3);
    expect(loopInstances({ ...prod, groups: 100 })).toEqual({
      'drain-buffer': 27,
      maintenance: 27,
      'move-shards': 3,
      'tail-shards': 10,
    });
    const more = connectionBudget({ ...prod, groups: 100 });
    expect(more?.wanted).toBe(1448 + 189 + 2 * 24 * 9);
  });

  it('that do not fit are refused with the sum', () => {
    expect(() => checkEnvironment({ ...ENVIRONMENTS.prod, capacity: { min: 1, max: 8 } })).toThrow(
      'prod.instances: wanted at most 900 connections to a group with a capacity of 8 ACU, got 1637. Instances × connections: write-cells 180×4, read-cells 120×4, query-index 55×4, manage-triggers 5×4, erase-cells 2×4, drain-buffer 3×9, maintenance 3×9, move-shards 3×9, tail-shards 10×9, migrate 2×9',
    );
    expect(() => checkEnvironment({ ...ENVIRONMENTS.prod, connections: { request: 4, loop: 8 } })).toThrow(/got 1999/u);
  });
});

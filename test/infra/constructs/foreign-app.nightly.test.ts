import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { STORE_FUNCTIONS } from '../../../infra/constructs/function-code.ts';
import { loadAssembly } from '../../../infra/local/template/load-assembly.ts';
import type { LoadedStack, TemplateResource } from '../../../infra/local/template/template.ts';
import { CONSUMER_VARIABLES, ENVIRONMENT_VARIABLES } from '../../../shared/environment.ts';
import { circleIn } from '../support/references.ts';
import { byService, ROUTES_OF_A_CONSUMER, routesOf, statementsOf } from '../support/statements.ts';
import { resourcesOf } from '../support/synthesized.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { compile, FILES, makeForeignApp, synthesize } from './foreign-app.ts';

const folder = folderOfTests();
// The package is compiled and bundled anew, and each synthesis bundles functions: a busy machine takes its time.
beforeAll(() => makeForeignApp(folder.path), 400_000);

const LAMBDA_POLICY =
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]';

/** What the owner of an app says of functions of their own: what Lambda's own policy is for is nothing of ours. */
function evidenceFor(...paths: readonly string[]): string {
  const say = (path: string): string =>
    `Validations.of(${path
      .split('/')
      .reduce(
        (node, id) => `${node}.node.findChild('${id}')`,
        'app',
      )}).acknowledge({ id: 'AwsSolutions::${LAMBDA_POLICY}', reason: 'It writes a log' });`;
  return paths.map(say).join('\n');
}

function find(stacks: readonly LoadedStack[], type: string, start: string): TemplateResource {
  const found = stacks
    .flatMap(({ template }) => Object.entries(template.Resources))
    .filter(([logicalId, resource]) => resource.Type === type && logicalId.startsWith(start));
  expect(
    found.map(([logicalId]) => logicalId),
    `${type} ${start}`,
  ).toHaveLength(1);
  return found[0]?.[1] as TemplateResource;
}

it('the page has the files of two apps, which compile in an empty folder', () => {
  expect(Object.keys(FILES)).toEqual([
    'datastores/trips/datastore.yaml',
    'datastores/trips/indexes/rider_index.yaml',
    'app.ts',
    'functions/bill-rider.ts',
    'functions/dispatch.ts',
    'production.ts',
  ]);
  expect(() => compile(folder.path, 'tsconfig.json')).not.toThrow();
});

it('what breaks a rule is found, and is of the owner of the app alone', { timeout: 200_000 }, () => {
  let complaint = '';
  try {
    synthesize(folder.path, 'app.ts', '');
  } catch (error) {
    complaint = String(Object(error).stderr);
  }
  const found = [...complaint.matchAll(/^ERROR .*\n +(?<path>\S+) .*\n +Acknowledge with '(?<id>.*)'$/gmu)];
  expect(found.map(({ groups }) => [groups?.['path'], groups?.['id']])).toEqual([
    ['Trips/BillRider/ServiceRole/Resource', `AwsSolutions::${LAMBDA_POLICY}`],
    ['Trips/Dispatch/ServiceRole/Resource', `AwsSolutions::${LAMBDA_POLICY}`],
  ]);
});

describe('a store to try out', () => {
  let stacks: readonly LoadedStack[];
  // Without any flag of the CDK, as an app that was begun long ago.
  beforeAll(() => {
    stacks = loadAssembly(synthesize(folder.path, 'app.ts', evidenceFor('Trips/BillRider', 'Trips/Dispatch')));
  }, 200_000);

  it('is one stack, of what the package brings', () => {
    expect(stacks.map(({ name }) => name)).toEqual(['Trips']);
    for (const stack of stacks) expect(circleIn(stack)).toEqual([]);
    const brought = join(folder.path, 'node_modules/schemaless-functions/dist/data-api');
    const [stack] = stacks;
    for (const name of STORE_FUNCTIONS.filter(
      (one) => !['migrate', 'preflight', 'rotate-passwords', 'define-datastores', 'export-cells'].includes(one),
    )) {
      const { Metadata } = find(stacks, 'AWS::Lambda::Function', `Store${name.replaceAll('-', '')}`);
      const asset = join(String(stack?.folder), String(Metadata?.['aws:asset:path']), 'index.mjs');
      expect(readFileSync(asset, 'utf8')).toBe(readFileSync(join(brought, name, 'index.mjs'), 'utf8'));
    }
    expect(resourcesOf(stacks, 'AWS::RDS::DBCluster')).toMatchObject([
      { DeletionPolicy: 'Delete', Properties: { EnableHttpEndpoint: true } },
    ]);
  });

  it('hands cells to the function, once the store knows its trigger', () => {
    const mapping = find(stacks, 'AWS::Lambda::EventSourceMapping', 'BillRider');
    expect(JSON.stringify(mapping.Properties?.['EventSourceArn'])).toContain('Storequeuetripsbillriderqueue');
    expect(JSON.stringify(mapping.Properties?.['FunctionName'])).toContain('BillRider');
    expect(Object(mapping).DependsOn).toContainEqual(expect.stringMatching(/^Storemigrationresource/u));
    const { Variables: variables } = Object(
      find(stacks, 'AWS::Lambda::Function', 'BillRider').Properties?.['Environment'],
    );
    expect(Object.keys(variables)).toEqual(
      expect.arrayContaining(CONSUMER_VARIABLES.map((key) => ENVIRONMENT_VARIABLES[key])),
    );
    expect(variables).toMatchObject({ SCHEMALESS_DATASTORE: 'trips' });
  });

  it('lets the function do what a consumer does, and who writes call the API', () => {
    const granted = byService(statementsOf(stacks).get('BillRider'));
    expect(Object.keys(granted).sort()).toEqual(['dynamodb', 'execute-api', 'sqs']);
    expect(routesOf(granted['execute-api'])).toEqual(ROUTES_OF_A_CONSUMER);
    expect(granted['sqs']?.flatMap(({ resources }) => resources)).toEqual([
      expect.stringContaining('Storequeuetripsbillriderqueue'),
    ]);

    const ofDispatch = byService(statementsOf(stacks).get('Dispatch'));
    expect(Object.keys(ofDispatch)).toEqual(['execute-api']);
    const routes = routesOf(ofDispatch['execute-api']);
    expect(routes).toContain('PUT/v1/trips/cells/*/*/*');
    expect(
      routes.filter((route) => !/^(?:GET|PUT|POST)\/v1\/trips\//u.test(route) || route.includes('triggers')),
    ).toEqual([]);
  });
});

describe('a store to rely on', () => {
  const { context }: { readonly context: object } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'cdk.json'), 'utf8'));
  let stacks: readonly LoadedStack[];
  const stack = (name: string): readonly LoadedStack[] => stacks.filter((one) => one.name === name);
  const importedBy = (name: string): readonly string[] =>
    [
      ...new Set([...JSON.stringify(stack(name)).matchAll(/"Fn::ImportValue":"(\w+):/gu)].map(([, of = '']) => of)),
    ].sort();
  // With the flags that a new app has.
  beforeAll(() => {
    const flags = { ...context, '@aws-cdk/core:validateAgainstDefaultRules': false };
    stacks = loadAssembly(synthesize(folder.path, 'production.ts', evidenceFor('Billing/BillRider'), flags));
  }, 200_000);

  it('has what must not be lost apart from what each deployment replaces, and nobody waits for the functions', () => {
    expect(stacks.map(({ name }) => [name, importedBy(name)])).toEqual(
      expect.arrayContaining([
        ['Platform', []],
        ['TripsStorage', ['Platform']],
        ['TripsService', ['Platform', 'TripsStorage']],
        ['Billing', ['Platform', 'TripsService', 'TripsStorage']],
      ]),
    );
    for (const one of stacks) {
      expect(circleIn(one)).toEqual([]);
      expect(Object.keys(one.template.Resources).length).toBeLessThan(500);
    }
    const held = ['AWS::RDS::DBCluster', 'AWS::DynamoDB::Table'];
    for (const type of held) {
      expect(resourcesOf(stacks, type)).toEqual(resourcesOf(stack('TripsStorage'), type));
      for (const resource of resourcesOf(stacks, type)) expect(resource).toMatchObject({ DeletionPolicy: 'Retain' });
    }
    // What asks the account first, what calls it, and what changes passwords.
    expect(resourcesOf(stack('TripsStorage'), 'AWS::Lambda::Function')).toHaveLength(3);
  });

  it('is in the network that was brought', () => {
    expect(resourcesOf(stacks, 'AWS::EC2::VPC')).toHaveLength(1);
    for (const group of resourcesOf(stacks, 'AWS::RDS::DBSubnetGroup'))
      expect(JSON.stringify(group.Properties?.['SubnetIds'])).toMatch(/^(?:.*?Platform:\w+dataSubnet){2}/u);
    const ofStore = resourcesOf(stack('TripsService'), 'AWS::Lambda::Function').filter(({ Properties }) =>
      String(Properties?.['Description']).startsWith('Schemaless: '),
    );
    // What makes datastores without a deployment is not there, nor what asks the account or changes passwords; the migration is
    // two.
    expect(ofStore).toHaveLength(STORE_FUNCTIONS.length - 2);
    const inVpc = ofStore.filter(({ Properties }) => !/export|starts/u.test(String(Properties?.['Description'])));
    expect(inVpc).toHaveLength(STORE_FUNCTIONS.length - 4);
    for (const { Properties } of inVpc) expect(JSON.stringify(Properties?.['VpcConfig'])).toContain('dataSubnet');
    expect(resourcesOf(stack('TripsStorage'), 'AWS::EC2::VPCEndpoint')).toHaveLength(3);
  });

  it('is encrypted with the key that was brought, which each may use for what is theirs', () => {
    const withKey = (type: string, path: (properties: Readonly<Record<string, unknown>>) => unknown): void => {
      const resources = resourcesOf(stacks, type);
      expect(resources.length, type).toBeGreaterThan(0);
      for (const { Properties } of resources)
        expect(JSON.stringify(path(Properties ?? {})), type).toMatch(/Platform:\w+Key/u);
    };
    withKey('AWS::RDS::DBCluster', ({ KmsKeyId }) => KmsKeyId);
    withKey('AWS::DynamoDB::Table', ({ SSESpecification }) => Object(SSESpecification).KMSMasterKeyId);
    withKey('AWS::SQS::Queue', ({ KmsMasterKeyId }) => KmsMasterKeyId);
    withKey('AWS::SecretsManager::Secret', ({ KmsKeyId }) => KmsKeyId);
    for (const [, statements] of statementsOf(stacks))
      for (const { actions, resources } of statements)
        if (actions.some((action) => action.startsWith('kms:')))
          for (const one of resources) expect(one).toMatch(/Platform:\w+Key/u);
  });

  it('exports into the bucket of another stack, and may do nothing else with it or with the store', () => {
    const granted = byService(statementsOf(stacks).get('Storeexporttripsparquet'));
    expect(Object.keys(granted).sort()).toEqual(['dynamodb', 'execute-api', 'kms', 's3', 'xray']);
    expect(routesOf(granted['execute-api'])).toEqual([
      'GET/v1/trips/indexes',
      'GET/v1/trips/shards',
      'POST/v1/trips/log',
    ]);
    const files = granted['s3']?.map(({ actions, resources }) => [
      actions,
      resources.join().replace(/"Platform:\w+"/u, 'lake'),
    ]);
    expect(files).toEqual([
      [['s3:ListBucket'], expect.stringMatching(/^\{"Fn::ImportValue":lake\}$/u)],
      [['s3:AbortMultipartUpload', 's3:PutObject'], expect.stringMatching(/lake\},"\/lake\/trips\/part-\*"\]/u)],
      [['s3:DeleteObject', 's3:GetObject'], expect.stringMatching(/lake\},"\/lake\/trips\/part-\*\/_\*"\]/u)],
    ]);
  });

  it('tells the topic of every alarm, those of the function included', () => {
    const alarms = resourcesOf(stacks, 'AWS::CloudWatch::Alarm');
    expect(resourcesOf(stack('Billing'), 'AWS::CloudWatch::Alarm')).toHaveLength(2);
    expect(alarms.filter(({ Properties }) => / group-\d/u.test(String(Properties?.['AlarmDescription'])))).toHaveLength(
      27,
    );
    for (const { Properties } of alarms)
      for (const name of ['AlarmActions', 'OKActions'])
        expect(JSON.stringify(Properties?.[name])).toMatch(/^\[\{"Fn::ImportValue":"Platform:\w+Pager\w+"\}\]$/u);
  });

  it('lets the function of another stack consume, analysts read alone, and who is on call do everything', () => {
    expect(resourcesOf(stack('Billing'), 'AWS::Lambda::EventSourceMapping')).toHaveLength(1);
    const granted = byService(statementsOf(stacks).get('BillRider'));
    expect(Object.keys(granted).sort()).toEqual(['dynamodb', 'execute-api', 'kms', 'sqs']);
    expect(routesOf(granted['execute-api'])).toEqual(ROUTES_OF_A_CONSUMER);
    const routesFor = (role: string): readonly string[] => {
      const { Properties } = find(stack('Billing'), 'AWS::IAM::Policy', `${role}DefaultPolicy`);
      return [...JSON.stringify(Properties).matchAll(/\/\$default\/(?<route>.*?)"/gu)].map(
        ({ groups }) => groups?.['route'] ?? '',
      );
    };
    const changing = /^PUT|batch-put|batch-restore|pause|resume|rewind|retry|discard|replay|keep/u;
    expect(routesFor('Analyst').filter((route) => changing.test(route))).toEqual([]);
    expect(routesFor('Analyst')).toContain('GET/v1/*/cells/*/*');
    expect(routesFor('OnCall').filter((route) => changing.test(route)).length).toBeGreaterThan(8);
  });
});

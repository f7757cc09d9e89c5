import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { STORE_FUNCTIONS } from '../../../infra/constructs/function-code.ts';
import { loadAssembly } from '../../../infra/local/template/synthesize.ts';
import type { LoadedStack, TemplateResource } from '../../../infra/local/template/template.ts';
import { circleIn } from '../support/references.ts';
import { resourcesOf } from '../support/synthesized.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { compile, FILES, makeForeignApp, synthesize } from './foreign-app.ts';

const folder = folderOfTests();
// The package is compiled and bundled, and each synthesis bundles functions: a busy machine takes long.
beforeAll(() => makeForeignApp(folder.path), 400_000);

const LAMBDA_POLICY =
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]';

/** Returns code in which an app's owner acknowledges the Lambda policy of their own functions. */
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

it('a broken rule is found, and belongs to the owner of the app alone', { timeout: 200_000 }, () => {
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
    const brought = join(folder.path, 'node_modules/@schemaless-store/functions/dist/data-api');
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

  it('separates durable resources from those that each deployment replaces, and no stack waits for the functions', () => {
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
    for (const type of ['AWS::RDS::DBCluster', 'AWS::DynamoDB::Table']) {
      expect(resourcesOf(stacks, type)).toEqual(resourcesOf(stack('TripsStorage'), type));
      for (const resource of resourcesOf(stacks, type)) expect(resource).toMatchObject({ DeletionPolicy: 'Retain' });
    }
    // The preflight, the provider that calls it, and the password rotation.
    expect(resourcesOf(stack('TripsStorage'), 'AWS::Lambda::Function')).toHaveLength(3);
  });
});

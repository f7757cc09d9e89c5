import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NestedStack, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { SubnetType, Vpc, type IVpc, type SubnetConfiguration } from 'aws-cdk-lib/aws-ec2';
import { Key, type IKey } from 'aws-cdk-lib/aws-kms';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { readyMade } from '../../../infra/constructs/function-code.ts';
import type { SchemalessStoreProps } from '../../../infra/constructs/index.ts';
import { standInApp } from './stand-in-store.ts';

const CERTIFICATE = 'arn:aws:acm:eu-west-1:123456789012:certificate/1a2b';

describe('a store is refused, with the option, what was expected and what came,', () => {
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
    ['a proxy without connections', { proxy: true }, /proxy: wanted false with access data-api/u],
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
      'backups for fewer days than they are free',
      { backups: { keepDays: 34 } },
      /backups\.keepDays: wanted a whole number from 35 to 36500, got 34/u,
    ],
    [
      'monthly backups that go before the weekly ones',
      { backups: { keepDays: 90, monthlyDays: 60 } },
      /backups\.monthlyDays: wanted a whole number from 90 to 36500, got 60/u,
    ],
    [
      'backups elsewhere, but not in a vault',
      { backups: { keepDays: 90, copyTo: 'elsewhere' } },
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

  it('for more groups than a stack takes, if the other stacks could not refer to it', () => {
    using app = standInApp();
    const message = 'groups: wanted at most 12 without a storageScope in another stack, which is not nested, got 13';
    const nested = new NestedStack(new Stack(app.stack.node.root, 'Home'), 'Nested');
    for (const [id, storageScope] of Object.entries({ none: undefined, same: app.stack, nested }))
      expect(() => app.store({ groups: 13, ...(storageScope && { storageScope }) }, id)).toThrow(message);
  });

  it('for a VPC without isolated subnets, unless others are named, or with public or too few ones', () => {
    const open: SubnetConfiguration = { name: 'open', subnetType: SubnetType.PUBLIC };
    const data: SubnetConfiguration = { name: 'data', subnetType: SubnetType.PRIVATE_ISOLATED };
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
});

it('the page names every option of a store', () => {
  const read = (file: string): string => readFileSync(join(PROJECT_ROOT, 'infra', file), 'utf8');
  const namesIn = (text: string, form: RegExp): readonly string[] =>
    [...text.matchAll(form)].map(([, name = '']) => name);
  const [, settings = ''] =
    /^export interface StoreEnvironment \{\n(.*?)^\}/msu.exec(read('constructs/store-environment.ts')) ?? [];
  const [, derived = ''] = /^type Derived =\n(.*?);$/msu.exec(read('constructs/store-options.ts')) ?? [];
  const options = new Set(namesIn(settings, /^ {2}readonly (\w+)\??:/gmu)).difference(
    new Set(namesIn(derived, /'(\w+)'/gu)),
  );
  expect(options.size).toBeGreaterThan(20);
  const page = read('docs/cdk.md');
  // `access` chooses between the columns of the table.
  expect([...options].filter((name) => name !== 'access' && !page.includes(`\`${name}`))).toEqual([]);
});

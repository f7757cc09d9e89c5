import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { SubnetType, Vpc, type IVpc } from 'aws-cdk-lib/aws-ec2';
import { describe, expect, it } from 'vitest';
import { subnetMask } from '../../../infra/constructs/network.ts';
import type { SchemalessStoreProps } from '../../../infra/constructs/index.ts';
import { zonesFor } from '../../../infra/constructs/zones.ts';
import { circleIn } from '../support/references.ts';
import { statementsOf } from '../support/statements.ts';
import { propertiesOf, resourcesOf } from '../support/synthesized.ts';
import { standInApp } from './stand-in-store.ts';

const ACCOUNT = '123456789012';
const TRIPS = [{ datastore: 'trips', shards: 16, triggers: [{ trigger: 'bill', columns: '*' as const }] }];

/** @param account of a stack in eu-west-1 @default a stack that may be deployed anywhere */
function synthesis(props: Partial<SchemalessStoreProps>, account?: string) {
  using app = standInApp(account);
  app.store({ datastores: TRIPS, groups: 1, bufferCopies: 0, ...props });
  const stacks = app.synthesized();
  const files = ['manifest.json', 'Shop.metadata.json'].map((name) => join(app.folder, 'cdk.out', name));
  return { stacks, manifest: files.map((file) => readFileSync(file, 'utf8')).join('\n') };
}

const open = { definedByApi: { mostShards: 16 }, name: 'trips' };
/** A store for each way to MySQL. */
const STORES = {
  'data-api': synthesis(open),
  'mysql by a proxy': synthesis({ ...open, access: 'mysql' }),
  'mysql without a proxy': synthesis({ ...open, access: 'mysql', proxy: false }),
} as const;

describe('zones are refused, with what was wanted and what came,', () => {
  const cases: readonly (readonly [string, string | undefined, readonly string[], RegExp])[] = [
    ['by name', undefined, ['eu-west-1a', 'eu-west-1b'], /such as use1-az1, .*, got "eu-west-1a"$/u],
    [
      'without a proxy',
      undefined,
      ['use1-az1', 'use1-az3'],
      /^zones: wanted zones that RDS Proxy is in, got use1-az3$/u,
    ],
    ['without a proxy', 'us-west-1', ['usw1-az1', 'usw1-az2'], /RDS Proxy is in, got usw1-az2$/u],
    ['too few', undefined, ['use1-az1'], /wanted 2 or 3 zone ids, each once, got use1-az1$/u],
    ['none', undefined, [], /got an empty list$/u],
    ['too many', undefined, ['use1-az1', 'use1-az2', 'use1-az4', 'use1-az5'], /wanted 2 or 3 zone ids/u],
    ['twice the same', undefined, ['use1-az1', 'use1-az1'], /each once, got use1-az1, use1-az1$/u],
    ['of two regions', undefined, ['use1-az1', 'use2-az2'], /of one region, got use1-az1, use2-az2$/u],
    ['of another region', 'eu-west-1', ['use1-az1', 'use1-az2'], /of eu-west-1, got use1-az1, use1-az2$/u],
  ];
  it.each(cases)('%s (%s)', (_what, region, zones, message) => {
    expect(() => zonesFor(region, zones)).toThrow(message);
  });
});

it('a range is refused that is not private, or too large or small, or does not begin where it says', () => {
  for (const cidr of [
    '10.0.0.0/15',
    '10.0.0.0/21',
    '11.0.0.0/16',
    '172.32.0.0/16',
    '10.0.16.0/16',
    '10.0.0.256/16',
    '10/16',
  ])
    expect(() => subnetMask(cidr), cidr).toThrow(/^cidr: wanted a private range of \/16 to \/20 /u);
  for (const cidr of ['10.7.0.0/16', '172.31.0.0/16', '192.168.16.0/20'])
    expect(subnetMask(cidr), cidr).toBeGreaterThan(0);
});

it('zones and a range are refused beside a VPC that is brought', () => {
  using app = standInApp();
  const isolated = [{ name: 'data', subnetType: SubnetType.PRIVATE_ISOLATED }];
  const vpc = new Vpc(app.stack, 'Vpc', { natGateways: 0, subnetConfiguration: isolated }) as IVpc;
  expect(() => app.store({ vpc, cidr: '10.1.0.0/16' }, 'A')).toThrow(/^cidr: wanted nothing with vpc/u);
  expect(() => app.store({ vpc, zones: ['euw1-az1', 'euw1-az2'] }, 'B')).toThrow(/^zones: wanted nothing with vpc/u);
});

describe('the network of a store', () => {
  it('is in three zones by their ids if the region is known, without a look-up', () => {
    const { stacks, manifest } = synthesis({ access: 'mysql' }, ACCOUNT);
    const subnets = propertiesOf(stacks, 'AWS::EC2::Subnet');
    expect(subnets.map(({ AvailabilityZoneId }) => AvailabilityZoneId)).toEqual(['euw1-az1', 'euw1-az2', 'euw1-az3']);
    for (const subnet of subnets) expect(subnet).not.toHaveProperty('AvailabilityZone');
    const withSubnets = [
      ...propertiesOf(stacks, 'AWS::RDS::DBSubnetGroup').map(({ SubnetIds }) => SubnetIds),
      ...propertiesOf(stacks, 'AWS::RDS::DBProxy').map(({ VpcSubnetIds }) => VpcSubnetIds),
      ...propertiesOf(stacks, 'AWS::EC2::VPCEndpoint').flatMap(({ SubnetIds }) => (SubnetIds ? [SubnetIds] : [])),
    ];
    expect(withSubnets).toHaveLength(3);
    for (const ids of withSubnets) expect(ids).toHaveLength(3);
    expect(manifest).not.toContain('availability-zones');
    expect(manifest).not.toContain('schemaless:zones');
  });

  it('gives the name of a subnet’s zone', () => {
    using app = standInApp(ACCOUNT);
    const { vpc } = app.store().storage.network;
    expect(app.stack.resolve(vpc.isolatedSubnets.map(({ availabilityZone }) => availabilityZone))).toEqual(
      [1, 2, 3].map((at) => ({ 'Fn::GetAtt': [expect.stringContaining(`isolatedSubnet${at}`), 'AvailabilityZone'] })),
    );
    expect(Stack.of(app.stack).availabilityZones.length).toBeGreaterThan(0);
  });

  it('is in two zones by their names if no region is known, with a warning that says how to name them', () => {
    const { stacks, manifest } = STORES['data-api'];
    expect(propertiesOf(stacks, 'AWS::EC2::Subnet').map(({ AvailabilityZone }) => AvailabilityZone)).toEqual(
      [0, 1].map((at) => ({ 'Fn::Select': [at, { 'Fn::GetAZs': '' }] })),
    );
    expect(manifest).toMatch(/Set the region .*, or zones, such as use1-az1.*schemaless:zones/u);
  });

  it('gets a third zone without a change to what is there', () => {
    const two = synthesis({ zones: ['use1-az1', 'use1-az4'], cidr: '10.8.0.0/16' }).stacks;
    const three = synthesis({ zones: ['use1-az1', 'use1-az4', 'use1-az2'], cidr: '10.8.0.0/16' }).stacks;
    const types = [
      'AWS::EC2::VPC',
      'AWS::EC2::Subnet',
      'AWS::EC2::RouteTable',
      'AWS::EC2::SubnetRouteTableAssociation',
    ];
    for (const type of types) {
      const [before, after] = [resourcesOf(two, type), resourcesOf(three, type)];
      expect(after).toEqual(expect.arrayContaining([...before]));
      expect(after).toHaveLength(type === 'AWS::EC2::VPC' ? 1 : before.length + 1);
    }
    const ranges = propertiesOf(three, 'AWS::EC2::Subnet').map(({ CidrBlock }) => CidrBlock);
    expect(ranges).toEqual(['10.8.0.0/20', '10.8.16.0/20', '10.8.32.0/20']);
    expect(propertiesOf(three, 'AWS::EC2::VPC')).toMatchObject([{ CidrBlock: '10.8.0.0/16' }]);
  });
});

it.each([
  ['data-api', 1, false],
  ['mysql by a proxy', 3, true],
  ['mysql without a proxy', 2, true],
] as const)(
  'security groups of a store with %s go where it says, and functions to MySQL and to AWS alone',
  (way, count, inVpc) => {
    const { stacks } = STORES[way];
    const groups = propertiesOf(stacks, 'AWS::EC2::SecurityGroup');
    expect(groups.length).toBeGreaterThan(1);
    // EC2 lets a group without rules go everywhere.
    const nowhere = expect.objectContaining({ CidrIp: '127.0.0.1/32' });
    const toAws = expect.objectContaining({ CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: 443, ToPort: 443 });
    for (const { SecurityGroupEgress, GroupDescription } of groups) {
      const isOfFunctions = String(GroupDescription).startsWith('Functions') && inVpc;
      expect(SecurityGroupEgress, String(GroupDescription)).toEqual(isOfFunctions ? [nowhere, toAws] : [nowhere]);
    }
    const rules = propertiesOf(stacks, 'AWS::EC2::SecurityGroupEgress');
    for (const rule of rules) {
      expect(rule).toMatchObject({ IpProtocol: 'tcp', DestinationSecurityGroupId: expect.anything() });
      expect(JSON.stringify(rule['FromPort'])).toMatch(/^(?:443|3306|.*Endpoint\.Port.*)$/u);
    }
    expect(rules).toHaveLength(count);
    for (const stack of stacks) expect(circleIn(stack)).toEqual([]);
  },
);

describe('the endpoints', () => {
  const { stacks } = STORES['mysql without a proxy'];
  const policies = new Map(
    propertiesOf(stacks, 'AWS::EC2::VPCEndpoint').map(({ ServiceName, PolicyDocument }) => [
      /\.([\w-]+)"\]\]\}$/u.exec(JSON.stringify(ServiceName))?.[1] ?? '',
      Object(PolicyDocument).Statement as readonly Readonly<Record<string, unknown>>[],
    ]),
  );
  const resourcesAt = (service: string): readonly string[] =>
    (policies.get(service) ?? []).flatMap(({ Resource }) => [Resource].flat()).map((one) => JSON.stringify(one));

  it('refuse callers of other accounts', () => {
    expect([...policies.keys()].toSorted()).toEqual(['dynamodb', 's3', 'secretsmanager', 'sqs']);
    for (const [service, statements] of policies) {
      expect(statements, service).toHaveLength(1);
      for (const statement of statements)
        expect(statement).toMatchObject({
          Effect: 'Allow',
          Condition: { StringEquals: { 'aws:PrincipalAccount': { Ref: 'AWS::AccountId' } } },
        });
    }
  });

  it('include none for secrets if functions log in with tokens', () => {
    const services = propertiesOf(STORES['mysql by a proxy'].stacks, 'AWS::EC2::VPCEndpoint').map(
      ({ ServiceName }) => /\.([\w-]+)"\]\]\}$/u.exec(JSON.stringify(ServiceName))?.[1],
    );
    expect(services.toSorted()).toEqual(['dynamodb', 's3', 'sqs']);
  });

  it('allow all that the functions may, and no other action', () => {
    const allowed = [...policies.values()].flat().flatMap(({ Action }) => [Action].flat().map(String));
    const granted = [...statementsOf(stacks).entries()]
      // The password rotation is in no VPC.
      .filter(([role]) => !role.includes('passwords'))
      .flatMap(([, statements]) => statements.flatMap(({ actions }) => actions))
      .filter((action) => /^(?:dynamodb|sqs|secretsmanager):/u.test(action));
    expect(granted.length).toBeGreaterThan(10);
    const ofExports = allowed.filter((action) => action.startsWith('s3:'));
    expect(ofExports.toSorted()).toEqual(
      ['AbortMultipartUpload', 'DeleteObject', 'GetObject', 'ListBucket', 'PutObject'].map((name) => `s3:${name}`),
    );
    expect(new Set([...granted, ...ofExports])).toEqual(new Set(allowed));
  });

  it('allow the tables and secrets of the store, and queues of its account and region, and no others', () => {
    expect(resourcesAt('dynamodb')).toHaveLength(3);
    for (const arn of resourcesAt('dynamodb')) expect(arn).toMatch(/"Fn::GetAtt":\["\w*tables(?:state|topology|keys)/u);
    // Those of groups, and the root key.
    const prefixes = resourcesAt('secretsmanager').map(
      (secrets) => /:secret:(?<prefix>\w+)\*"/u.exec(secrets)?.groups?.['prefix'] ?? '?',
    );
    expect(prefixes).toEqual([expect.stringMatching(/group$/u), expect.stringMatching(/rootkey$/u)]);
    // AWS names a secret after its logical id.
    const ids = stacks.flatMap(({ template }) =>
      Object.entries(template.Resources).flatMap(([id, { Type }]) =>
        Type === 'AWS::SecretsManager::Secret' ? [id] : [],
      ),
    );
    expect(ids.length).toBeGreaterThan(3);
    for (const id of ids)
      expect(
        prefixes.some((prefix) => id.startsWith(prefix)),
        `${id} of ${prefixes}`,
      ).toBe(true);
    expect(resourcesAt('sqs')).toEqual([
      expect.stringMatching(/"AWS::Region"\},":",\{"Ref":"AWS::AccountId"\},":\*"/u),
    ]);
  });
});

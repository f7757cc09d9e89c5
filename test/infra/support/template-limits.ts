import { createResolver } from '../../../infra/local/template/resolver.ts';
import type { LoadedStack, ResourceAddress } from '../../../infra/local/template/template.ts';

/**
 * The limits of a stack. CloudFormation takes 500 resources; the rest is for a datastore and its triggers, and for
 * later. The others are AWS's own.
 */
const MOST = {
  resources: 450,
  outputs: 200,
  parameters: 200,
  bytes: 1_000_000,
  inlinePolicies: 10_240,
  managedPolicy: 6144,
  /** Four fifths: further routes must fit. */
  callersPolicy: 4915,
  managedPolicies: 10,
  rules: 60,
  /** Of a function's variables, as JSON, which is more than Lambda counts. */
  variables: 4096,
} as const;
/** The CDK's provider framework hands a custom resource's properties, old and new, to Step Functions. */
const MOST_HANDED_OVER = 262_144;

/** As long as ARNs of secrets become, about, which are the longest. */
const LONG_ARN = `arn:aws:secretsmanager:ap-southeast-2:123456789012:secret:${'x'.repeat(42)}`;
/** `Ref` returns no ARN for these; those without a text are told apart by their names. */
const SHORT: Readonly<Record<string, string | undefined>> = {
  'AWS::ApiGatewayV2::Api': 'a1b2c3d4e5',
  'AWS::EC2::SecurityGroup': undefined,
  'AWS::IAM::Role': undefined,
};

/** Returns the sizes in templates that AWS would refuse, a line each; none if all fit. */
export function exceededIn(stacks: readonly LoadedStack[]): readonly string[] {
  const sizes = [
    ...stacks.flatMap(({ name, template }): readonly Size[] => [
      [`${name}: resources`, Object.keys(template.Resources).length, MOST.resources],
      [`${name}: outputs`, Object.keys(template.Outputs ?? {}).length, MOST.outputs],
      [`${name}: parameters`, Object.keys(template.Parameters ?? {}).length, MOST.parameters],
      [`${name}: bytes`, Buffer.byteLength(JSON.stringify(template, undefined, 1)), MOST.bytes],
    ]),
    ...sizesOfResources(stacks),
  ];
  return sizes.filter(([, size, most]) => size >= most).map(([what, size, most]) => `${what}: ${size} of ${most}`);
}

type Size = readonly [what: string, size: number, most: number];

function sizesOfResources(stacks: readonly LoadedStack[]): readonly Size[] {
  const resolver = createResolver(stacks, {
    ref: ({ logicalId, resource: { Type } }) => (Type in SHORT ? (SHORT[Type] ?? logicalId) : LONG_ARN),
    attribute: ({ logicalId, resource: { Type } }) => (Type === 'AWS::EC2::SecurityGroup' ? logicalId : LONG_ARN),
    secret: () => '',
  });
  const of = (type: string): readonly ResourceAddress[] =>
    resolver.resources.filter(({ resource }) => resource.Type === type);
  const lengthOf = (policy: ResourceAddress): number =>
    JSON.stringify(resolver.property(policy, 'PolicyDocument')).length;
  const rolesOf = (policy: ResourceAddress): readonly string[] =>
    [resolver.property(policy, 'Roles') ?? []].flat().map(String);
  const [inline, managed] = [new Map<string, number>(), new Map<string, number>()];
  const add = (sums: Map<string, number>, key: string, size: number): unknown =>
    sums.set(key, (sums.get(key) ?? 0) + size);
  for (const policy of of('AWS::IAM::Policy')) for (const role of rolesOf(policy)) add(inline, role, lengthOf(policy));
  for (const policy of of('AWS::IAM::ManagedPolicy')) for (const role of rolesOf(policy)) add(managed, role, 1);
  for (const role of of('AWS::IAM::Role'))
    add(managed, role.logicalId, [resolver.property(role, 'ManagedPolicyArns') ?? []].flat().length);
  return [
    ...[...inline].map(([role, size]): Size => [`${role}: policies`, size, MOST.inlinePolicies + 1]),
    ...of('AWS::IAM::ManagedPolicy').map((one): Size => [
      one.logicalId,
      lengthOf(one),
      one.logicalId.startsWith('callers') ? MOST.callersPolicy + 1 : MOST.managedPolicy + 1,
    ]),
    ...[...managed].map(([role, count]): Size => [`${role}: managed policies`, count, MOST.managedPolicies + 1]),
    ...of('AWS::Lambda::Function').map((one): Size => {
      const { Variables = {} } = Object(resolver.property(one, 'Environment'));
      return [`${one.logicalId}: variables`, Buffer.byteLength(JSON.stringify(Variables)), MOST.variables];
    }),
    ...rulesOf(of, (address, name) => resolver.property(address, name)),
    ...of('Custom::SchemalessMigration').map((one): Size => {
      const handed = ['Groups', 'Datastores'].map((name) => resolver.property(one, name));
      return [`${one.logicalId}: properties`, 2 * JSON.stringify(handed).length, MOST_HANDED_OVER];
    }),
  ];
}

function rulesOf(
  of: (type: string) => readonly ResourceAddress[],
  property: (address: ResourceAddress, name: string) => unknown,
): readonly Size[] {
  return (['Ingress', 'Egress'] as const).flatMap((way) => {
    const groups = of('AWS::EC2::SecurityGroup').map((group): readonly [string, number] => [
      group.logicalId,
      [property(group, `SecurityGroup${way}`) ?? []].flat().length,
    ]);
    const counts = new Map(groups);
    for (const rule of of(`AWS::EC2::SecurityGroup${way}`)) {
      const id = String(property(rule, 'GroupId'));
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return [...counts].map(([id, count]): Size => [`${id}: rules, ${way}`, count, MOST.rules + 1]);
  });
}

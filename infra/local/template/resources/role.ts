import { accessKeyOf } from '../../iam/access-key.ts';
import type { RightsByKey, RoleRights } from '../../iam/rights.ts';
import { type WrittenStatement, API_GATEWAY, SOURCE_ARN } from '../../iam/statement.ts';
import { describeResource, type ResourceAddress, ofType } from '../template.ts';
import { PSEUDO } from '../../arn.ts';
import { physicalName, type Context, type ResourceKind, functionArn, textProperty } from './resource-kind.ts';
import type { ScheduleDefinition } from './schedule.ts';

export const ROLE: ResourceKind = {
  ref: physicalName,
  attribute: (address, name) =>
    name === 'Arn' ? `arn:${PSEUDO.partition}:iam::${PSEUDO.account}:role/${physicalName(address)}` : undefined,
};

export const POLICY: ResourceKind = {
  ref: (address) => `arn:${PSEUDO.partition}:iam::${PSEUDO.account}:policy/${physicalName(address)}`,
  attribute: () => undefined,
};

const POLICIES = new Set(['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy']);

interface RoleBearer {
  readonly name: string;
  readonly title?: string;
  readonly roleArn: string;
}

/**
 * Returns the rights of each function or schedule, from its role's policies in the template. AWS's policies for logs
 * and traces are ignored. A role outside the template, or with other AWS policies, is not judged: `onUnjudged` gets it.
 */
export function rightsOfRoles(
  resources: readonly ResourceAddress[],
  context: Context,
  bearers: readonly RoleBearer[],
  onUnjudged: (why: string) => void,
): RightsByKey {
  const roles = rolesIn(resources, context);
  const policies = resources.filter(({ resource }) => POLICIES.has(resource.Type));
  return Object.fromEntries(
    bearers.flatMap(({ name, title = name, roleArn }): [string, RoleRights][] => {
      const role = roles.get(roleArn);
      const ofAws = role && listOf(context.property(role, 'ManagedPolicyArns')).map(String).filter(isForeign);
      if (!role || ofAws === undefined || ofAws.length > 0) {
        onUnjudged(`${title} may do everything here: ${ofAws?.join(', ') ?? roleArn} is not of the template`);
        return [];
      }
      return [
        [accessKeyOf(name), { name, role: physicalName(role), statements: statementsOf(role, policies, context) }],
      ];
    }),
  );
}

/** Throws an Error for a schedule whose role EventBridge Scheduler may not assume. */
export function checkRolesOfSchedules(
  resources: readonly ResourceAddress[],
  context: Context,
  schedules: readonly ScheduleDefinition[],
): void {
  const roles = rolesIn(resources, context);
  for (const { name, roleArn } of schedules) {
    const role = roles.get(roleArn);
    if (role && !isTrusted(SCHEDULER, context.property(role, 'AssumeRolePolicyDocument')))
      throw new Error(`${name}, RoleArn: wanted a role that ${SCHEDULER} may take, got ${describeResource(role)}`);
  }
}

const SCHEDULER = 'scheduler.amazonaws.com';

function isTrusted(service: string, trust: unknown): boolean {
  return listOf(Object(trust).Statement).some((statement) => {
    const { Effect, Action, Principal } = Object(statement);
    const services = listOf(Object(Principal).Service);
    return Effect === 'Allow' && listOf(Action).includes('sts:AssumeRole') && services.includes(service);
  });
}

function rolesIn(resources: readonly ResourceAddress[], context: Context): ReadonlyMap<string, ResourceAddress> {
  return new Map(
    ofType(resources, 'AWS::IAM::Role').map((role) => [String(ROLE.attribute(role, 'Arn', context)), role] as const),
  );
}

/** True for an AWS policy beyond logs, traces and networks. */
function isForeign(policyArn: string): boolean {
  return (
    policyArn.includes(':iam::aws:') &&
    !/\/(?:AWSLambda\w*ExecutionRole|AWSXRay\w*|CloudWatchLambda\w*)$/u.test(policyArn)
  );
}

function statementsOf(
  role: ResourceAddress,
  policies: readonly ResourceAddress[],
  context: Context,
): readonly WrittenStatement[] {
  const inline = listOf(context.property(role, 'Policies')).map((policy) => Object(policy).PolicyDocument as unknown);
  const named = new Set(listOf(context.property(role, 'ManagedPolicyArns')));
  const attached = policies
    .filter((policy) => {
      const isOfRole = listOf(policy.resource.Properties?.['Roles']).some(
        (one) => Object(one).Ref === role.logicalId && policy.stack === role.stack,
      );
      return isOfRole || named.has(POLICY.ref(policy, context));
    })
    .map((policy) => context.property(policy, 'PolicyDocument'));
  return [...inline, ...attached].flatMap((document) => listOf(Object(document).Statement) as WrittenStatement[]);
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

const KNOWN = new Set(['Action', 'FunctionName', 'Principal', 'SourceArn']);

/** Returns the rights of API Gateway: each function's permission says for which routes. */
export function rightsOfApiGateway(resources: readonly ResourceAddress[], context: Context): RightsByKey {
  const statements = ofType(resources, 'AWS::Lambda::Permission')
    .filter((permission) => context.property(permission, 'Principal') === API_GATEWAY)
    .map((permission) => statementOf(permission, context));
  return { [accessKeyOf(API_GATEWAY)]: { name: API_GATEWAY, statements } };
}

/** Throws an Error for a permission with other members. */
function statementOf(permission: ResourceAddress, context: Context): WrittenStatement {
  const strange = Object.keys(permission.resource.Properties ?? {}).filter((name) => !KNOWN.has(name));
  if (strange.length > 0)
    throw new Error(
      `${describeResource(permission)}: wanted ${[...KNOWN].join(', ')} alone, got ${strange.join(', ')}`,
    );
  const source = context.property(permission, 'SourceArn');
  return {
    Effect: 'Allow',
    Action: context.property(permission, 'Action'),
    Resource: functionArn(textProperty(context, permission, 'FunctionName')),
    ...(source !== undefined && { Condition: { ArnLike: { [SOURCE_ARN]: source } } }),
  };
}

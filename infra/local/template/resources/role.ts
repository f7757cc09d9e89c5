import type { FunctionDefinition } from '../../lambda/function-definition.ts';
import { accessKeyOf } from '../../iam/access-key.ts';
import type { RightsByKey, RoleRights } from '../../iam/rights.ts';
import type { WrittenStatement } from '../../iam/statement.ts';
import { PSEUDO, type ResourceAddress } from '../template.ts';
import { physicalName, type Context, type ResourceKind } from './resource-kind.ts';

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

/**
 * What each function may do, by its access key: by the policies of its role that the template has. Those of AWS for
 * writing logs and traces are of services that are not here. A function whose role the template does not have, or that
 * has others of AWS's policies, is not judged.
 *
 * @param onUnjudged told of each
 */
export function rightsOfFunctions(
  resources: readonly ResourceAddress[],
  context: Context,
  functions: readonly FunctionDefinition[],
  onUnjudged: (why: string) => void,
): RightsByKey {
  const roles = new Map(
    resources
      .filter(({ resource }) => resource.Type === 'AWS::IAM::Role')
      .map((role) => [String(ROLE.attribute(role, 'Arn', context)), role] as const),
  );
  const policies = resources.filter(({ resource }) => POLICIES.has(resource.Type));
  return Object.fromEntries(
    functions.flatMap(({ name, title, roleArn }): [string, RoleRights][] => {
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

/** Of AWS, and of more than logs, traces and networks. */
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

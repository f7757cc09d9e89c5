import type { FunctionDefinition } from '../../lambda/function-definition.ts';
import { accessKeyOf } from '../../iam/access-key.ts';
import type { RightsByKey } from '../../iam/rights.ts';
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
 * What each function may do, by its access key: by the policies of its role that the template has. Those of AWS, as for
 * writing logs, are of services that are not here.
 *
 * @throws Error for a function whose role the template does not have
 */
export function rightsOfFunctions(
  resources: readonly ResourceAddress[],
  context: Context,
  functions: readonly FunctionDefinition[],
): RightsByKey {
  const roles = new Map(
    resources
      .filter(({ resource }) => resource.Type === 'AWS::IAM::Role')
      .map((role) => [String(ROLE.attribute(role, 'Arn', context)), role] as const),
  );
  const policies = resources.filter(({ resource }) => POLICIES.has(resource.Type));
  return Object.fromEntries(
    functions.map(({ name, title, roleArn }) => {
      const role = roles.get(roleArn);
      if (!role) throw new Error(`${title}: wanted a role of the template, got ${roleArn}`);
      const statements = statementsOf(role, policies, context);
      return [accessKeyOf(name), { name, role: physicalName(role), statements }];
    }),
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

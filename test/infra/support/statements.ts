import type { LoadedStack } from '../../../infra/local/template/template.ts';

/** What a role may do: the actions and resources of one statement, resources as JSON text. */
export interface Statement {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

/** The statements of all policies, by the start of the logical id of the role that they are for. */
export function statementsOf(stacks: readonly LoadedStack[]): ReadonlyMap<string, readonly Statement[]> {
  const policies = stacks
    .flatMap(({ template }) => Object.entries(template.Resources))
    .filter(([, { Type }]) => Type === 'AWS::IAM::Policy' || Type === 'AWS::IAM::ManagedPolicy');
  return new Map(
    policies.map(([logicalId, { Properties }]): [string, readonly Statement[]] => {
      const {
        Statement: given,
      }: { readonly Statement: readonly { readonly Action: unknown; readonly Resource: unknown }[] } = Object(
        Properties?.['PolicyDocument'],
      );
      const statements = given.map(({ Action, Resource }) => ({
        actions: [Action].flat().map(String),
        resources: [Resource].flat().map((resource) => JSON.stringify(resource)),
      }));
      return [logicalId.slice(0, logicalId.indexOf('ServiceRole')), statements];
    }),
  );
}

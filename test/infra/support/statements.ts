import type { LoadedStack } from '../../../infra/local/template/template.ts';
import { words } from '../../support/words.ts';

interface Statement {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly conditions?: unknown;
}

/**
 * The statements of all policies, by the start of the logical id of the role that they are for: one that is too long is
 * made several.
 */
export function statementsOf(stacks: readonly LoadedStack[]): ReadonlyMap<string, readonly Statement[]> {
  const policies = stacks
    .flatMap(({ template }) => Object.entries(template.Resources))
    .filter(([, { Type }]) => Type === 'AWS::IAM::Policy' || Type === 'AWS::IAM::ManagedPolicy');
  const byRole = new Map<string, readonly Statement[]>();
  for (const [logicalId, { Properties }] of policies) {
    const {
      Statement: given,
    }: {
      readonly Statement: readonly {
        readonly Action: unknown;
        readonly Resource: unknown;
        readonly Condition?: unknown;
      }[];
    } = Object(Properties?.['PolicyDocument']);
    const statements = given.map(({ Action, Resource, Condition }) => ({
      actions: [Action].flat().map(String),
      resources: [Resource].flat().map((resource) => JSON.stringify(resource)),
      ...(Condition !== undefined && { conditions: Condition }),
    }));
    const role = logicalId.slice(0, logicalId.indexOf('ServiceRole'));
    byRole.set(role, [...(byRole.get(role) ?? []), ...statements]);
  }
  return byRole;
}

export function byService(statements: readonly Statement[] = []): Readonly<Record<string, readonly Statement[]>> {
  return Object.groupBy(statements, ({ actions }) => String(actions[0]).split(':')[0] ?? '') as Readonly<
    Record<string, readonly Statement[]>
  >;
}

/** The routes of the API that statements let a role call, as "METHOD/path". */
export function routesOf(statements: readonly Statement[] = []): readonly string[] {
  return statements
    .flatMap(({ resources }) => resources.map((resource) => /\/\$default\/(.*?)"/u.exec(resource)?.[1] ?? resource))
    .sort();
}

export const ROUTES_OF_A_CONSUMER = words(`
  GET/v1/trips/cells/*/* GET/v1/trips/cells/*/*/* GET/v1/trips/indexes/* GET/v1/trips/rows/*
  POST/v1/trips/batch-get POST/v1/trips/batch-put POST/v1/trips/batch-query POST/v1/trips/batch-read
  PUT/v1/trips/cells/*/*/*`);

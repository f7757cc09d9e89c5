import type { DesiredState, DesiredDatastore } from '../../shared/migrate/check-desired-state.ts';
import type { Endpoint } from '../../shared/sql/endpoints.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';

/** CloudFormation turns numbers and booleans into strings; JSON text stays as it is. */
interface Properties {
  readonly Groups: readonly GroupAddress[];
  readonly Datastores: readonly ({ readonly name: string; readonly shards: string } & Readonly<
    Record<string, string>
  >)[];
}

/**
 * Reads a deployment's desired state from its custom resource, which `infra/constructs/migration.ts` makes from checked
 * definitions. Throws an Error that names a property that is not JSON text.
 */
export function readDesiredState(given: unknown): DesiredState {
  const { Groups, Datastores } = given as Properties;
  return {
    groups: Groups.map((group) => ({
      ...group,
      writer: endpoint(group.writer),
      reader: endpoint(group.reader),
      nodes: group.nodes.map(endpoint),
      sharedStorage: String(group.sharedStorage) === 'true',
    })),
    datastores: Datastores.map(({ name, shards, ...texts }) => {
      const definitions = Object.entries(texts).map(([property, text]) => [property, parsed(property, text)]);
      return { ...(Object.fromEntries(definitions) as DesiredDatastore), name, shards: Number(shards) };
    }),
  };
}

function endpoint({ host, port }: Endpoint): Endpoint {
  return { host, port: Number(port) };
}

function parsed(property: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(`${property}: wanted JSON text`, { cause });
  }
}

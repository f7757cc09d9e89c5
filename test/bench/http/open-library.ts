import { ENVIRONMENTS } from '../../../infra/environments.ts';
import type { StackProcess } from '../../support/processes/stack-process.ts';
import { openStore, type OpenStore } from '../../support/store-access.ts';

/**
 * Opens the library in this process on the servers and topology of a stack, as its functions do. It uses the endpoints
 * of the clusters, which follow a promotion, and an instance's number of connections. HTTP is the only difference
 * between the two.
 */
export async function openLibrary({ endpoints, groups: nodes }: StackProcess): Promise<OpenStore> {
  const { dynamodb, tables } = endpoints;
  const groups = nodes.map((group) => ({
    ...group,
    ...endpoints.groups.find(({ name }) => name === group.name)?.cluster,
  }));
  const { bufferCopies, connections } = ENVIRONMENTS.local;
  const table = (part: string): string => tables.find((name) => name.includes(part)) ?? '';
  return openStore(
    { groups, dynamo: dynamodb, topologyTable: table('topology'), stateTable: table('state'), bufferCopies },
    { connections: connections.request },
  );
}

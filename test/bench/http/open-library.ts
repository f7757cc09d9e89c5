import { ENVIRONMENTS } from '../../../infra/environments.ts';
import type { StackProcess } from '../../faults/restart/stack-process.ts';
import { openStore, type OpenStore } from '../../faults/store-access.ts';

/** Opens the library in this process on the servers and the topology of a stack, with as many connections as an instance of its functions has. */
export async function openLibrary({ endpoints: { dynamodb, tables }, groups }: StackProcess): Promise<OpenStore> {
  const { bufferCopies, connections } = ENVIRONMENTS.local;
  const table = (part: string): string => tables.find((name) => name.includes(part)) ?? '';
  return openStore({ groups, dynamo: dynamodb, topologyTable: table('topology'), stateTable: table('state'), bufferCopies }, { connections: connections.request });
}

import type { BufferOperations, Datastore, IndexOperations } from '../../../shared/contract/datastore.ts';
import { type DeploymentOptions, openContext, type StoreContext } from '../../../shared/access/context.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { dynamoClient } from '../dynamo.ts';
import { groupClient, type OpenStoreOptions, type StoreAccess } from '../store-access.ts';

/** What a process needs to open one of several datastores: plain data. */
export interface IndexedAccess extends StoreAccess {
  readonly datastore: string;
}

export interface IndexedStore extends AsyncDisposable {
  readonly name: string;
  readonly datastore: Datastore & BufferOperations & IndexOperations;
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
}

/** Opens a datastore with its indexes, in this process. */
export async function openIndexed(access: IndexedAccess, { connections = 8, wrap = (client) => client }: OpenStoreOptions = {}): Promise<IndexedStore> {
  const client = dynamoClient(access.dynamo);
  const options: DeploymentOptions = {
    topology: dynamoTopology({ client, table: access.topologyTable }),
    connect: (address) => wrap(groupClient(access.groups, address.name, { connections })),
    bufferCopies: access.bufferCopies,
  };
  const deployment = openDeployment(options);
  const context = openContext(options);
  return {
    name: access.datastore,
    datastore: await deployment.datastore(access.datastore),
    context,
    topologyTable: { client, table: access.topologyTable },
    stateTable: { client, table: access.stateTable },
    async [Symbol.asyncDispose]() {
      await Promise.all([deployment.close(), context.groups.close()]);
      client.destroy();
    },
  };
}

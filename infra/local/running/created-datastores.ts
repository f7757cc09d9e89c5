import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { SchemalessError } from '../../../shared/errors.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import { dynamoClient } from '../login/clients.ts';

/** A datastore in a stack's topology. */
export type CreatedDatastore = Awaited<ReturnType<typeof createdDatastores>>[number];

export async function createdDatastores(tables: readonly string[], dynamodbUrl: string) {
  const table = tables.find((name) => name.includes('topology'));
  if (table === undefined) return [];
  using client = dynamoClient(dynamodbUrl);
  try {
    const topology = dynamoTopology({ client, table });
    const [names, served] = await Promise.all([topology.datastores(), topology.served()]);
    return await Promise.all(
      names.map(async (name) => ({
        name,
        shards: (await topology.datastore(name))?.shards ?? 0,
        /** No longer defined: its data stays, requests do not find it. */
        isRetired: !served.includes(name),
      })),
    );
  } catch (error) {
    if (error instanceof SchemalessError && error.cause instanceof ResourceNotFoundException) return [];
    throw error;
  }
}

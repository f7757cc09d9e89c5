import { DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { SchemalessError } from '../../../shared/errors.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import { awsLogin } from '../login/aws-login.ts';

/**
 * The shard counts of the datastores that a stack has, whoever defined them, by name: as its topology says it.
 *
 * @param tables of the stack, by name; none is there before its first start
 */
export async function createdDatastores(
  tables: readonly string[],
  dynamodbUrl: string,
): Promise<ReadonlyMap<string, number>> {
  const table = tables.find((name) => name.includes('topology'));
  if (table === undefined) return new Map();
  const client = new DynamoDBClient({ endpoint: dynamodbUrl, ...awsLogin() });
  try {
    const topology = dynamoTopology({ client, table });
    const names = await topology.datastores();
    return new Map(
      await Promise.all(names.map(async (name) => [name, (await topology.datastore(name))?.shards ?? 0] as const)),
    );
  } catch (error) {
    if (error instanceof SchemalessError && error.cause instanceof ResourceNotFoundException) return new Map();
    throw error;
  } finally {
    client.destroy();
  }
}

import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';

/** Returns a client's login. A key of no function belongs to the owner, with all rights. */
export function loginOf(accessKeyId = 'local') {
  return { region: 'us-east-1', maxAttempts: 1, credentials: { accessKeyId, secretAccessKey: 'local' } } as const;
}

/** A client of an emulator of the test's own; tests of the run's services have `test/support/dynamo.ts`. */
export function dynamoAt(endpoint: string, accessKeyId?: string): DynamoDBClient {
  return new DynamoDBClient({ endpoint, ...loginOf(accessKeyId) });
}

export async function makeTable(client: DynamoDBClient, TableName = 'state'): Promise<string> {
  await client.send(
    new CreateTableCommand({
      TableName,
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 0.05, maxDelay: 1 }, { TableName });
  return TableName;
}

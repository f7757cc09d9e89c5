import './skip-without-aws.ts';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, DynamoDBClient, UpdateItemCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { closeDynalite, openDynalite } from '../../infra/local/emulators/dynamodb.ts';
import type { DynamoTable } from '../../shared/dynamo/table.ts';

export interface LocalDynamo {
  readonly url: string;
  stop(): Promise<void>;
}

/** DynamoDB over its wire protocol, in memory. */
export async function startDynamo(): Promise<LocalDynamo> {
  const server = openDynalite();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => closeDynalite(server),
  };
}

export function dynamoClient(url: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}

/** A client that loses one answer: that to the first `UpdateItem`, once the write was done. */
export function losingClient(url: string): { readonly client: DynamoDBClient; readonly lost: () => number } {
  const client = dynamoClient(url);
  let lost = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const answer = await next(args);
      if (context.commandName !== UpdateItemCommand.name || lost > 0) return answer;
      lost += 1;
      throw Object.assign(new Error('connection reset'), { name: 'TimeoutError', $retryable: {} });
    },
    // Within the SDK's own retries.
    { step: 'finalizeRequest', priority: 'low' },
  );
  return { client, lost: () => lost };
}

/** A new table with the key `pk`, as all of the store's tables have. */
export async function newTable(client: DynamoDBClient): Promise<DynamoTable> {
  const table = `table-${randomUUID()}`;
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 0.05, maxDelay: 1 }, { TableName: table });
  return { client, table };
}

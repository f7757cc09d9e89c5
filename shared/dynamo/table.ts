import {
  ScanCommand,
  type AttributeValue,
  type DynamoDBClient,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';

/** A DynamoDB table and who reaches it. Every table of the store has one key, `pk`, text. */
export interface DynamoTable {
  readonly client: DynamoDBClient;
  readonly table: string;
}

/** Reads every item of a table, past every cache: for the topology, which is small. */
export async function allItems({ client, table }: DynamoTable): Promise<readonly Record<string, AttributeValue>[]> {
  const items: Record<string, AttributeValue>[] = [];
  let start: Record<string, AttributeValue> | undefined;
  do {
    const page: ScanCommandOutput = await client.send(
      new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: start }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
}

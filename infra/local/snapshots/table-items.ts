import { BatchWriteItemCommand, ScanCommand, type DynamoDBClient, type WriteRequest } from '@aws-sdk/client-dynamodb';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TableItem } from './snapshot.ts';

const BATCH = 25;
const AGAIN_MS = 100;

export async function readItems(client: DynamoDBClient, table: string): Promise<readonly TableItem[]> {
  const items: TableItem[] = [];
  let start: TableItem | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName: table, ConsistentRead: true, ExclusiveStartKey: start }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
}

/** Makes the items the table's only ones. No other writer may run. */
export async function replaceItems(client: DynamoDBClient, table: string, items: readonly TableItem[]): Promise<void> {
  const kept = new Set(items.map(keyOf));
  const gone = (await readItems(client, table)).filter((item) => !kept.has(keyOf(item)));
  const writes: WriteRequest[] = [
    ...gone.map(({ pk = { S: '' } }) => ({ DeleteRequest: { Key: { pk } } })),
    ...items.map((Item) => ({ PutRequest: { Item } })),
  ];
  for (let start = 0; start < writes.length; start += BATCH) {
    for (let left = writes.slice(start, start + BATCH); left.length > 0;) {
      const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: left } }));
      left = UnprocessedItems?.[table] ?? [];
      if (left.length > 0) await sleep(AGAIN_MS);
    }
  }
}

function keyOf({ pk }: TableItem): string {
  return pk?.S ?? '';
}

import {
  ScanCommand,
  type AttributeValue,
  type DynamoDBClient,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';

/** A DynamoDB table and its client. Every table of the store has one key, `pk`, text. */
export interface DynamoTable {
  readonly client: DynamoDBClient;
  readonly table: string;
}

type Item = Readonly<Record<string, AttributeValue>>;

interface ScannedItems {
  readonly items: readonly Item[];
  /** The key behind which the next page begins; undefined at the end. */
  readonly end: string | undefined;
}

/** Reads every item of a table, past every cache: for the topology, which is small. */
export async function allItems(table: DynamoTable): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const { items } of scanState(table)) all.push(...items);
  return all;
}

/**
 * Reads a table from end to end, a page of a megabyte at a time, for items whose keys begin alike: for what few ask.
 * The whole of it counts, and takes the time that it takes. `prefix`: @default of any key. `after`: the key behind
 * which
 * it begins @default at the beginning. `having`: an attribute that they have @default it does not matter.
 */
export async function* scanState(
  { client, table }: DynamoTable,
  prefix?: string,
  { after, having }: { readonly after?: string | undefined; readonly having?: string } = {},
): AsyncGenerator<ScannedItems, void, undefined> {
  let start = after;
  do {
    const { Items = [], LastEvaluatedKey }: ScanCommandOutput = await client.send(
      new ScanCommand({
        TableName: table,
        ConsistentRead: true,
        ...(prefix !== undefined && {
          FilterExpression: `begins_with(pk, :prefix)${having === undefined ? '' : ' AND attribute_exists(#having)'}`,
          ExpressionAttributeValues: { ':prefix': { S: prefix } },
        }),
        ...(having !== undefined && { ExpressionAttributeNames: { '#having': having } }),
        ...(start !== undefined && { ExclusiveStartKey: { pk: { S: start } } }),
      }),
    );
    start = LastEvaluatedKey?.['pk']?.S;
    yield { items: Items, end: start };
  } while (start !== undefined);
}

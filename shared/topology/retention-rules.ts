import { UpdateItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import type { RetentionRule } from '../definitions/definitions.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { DatastoreTopology } from './topology.ts';

/**
 * How long the cells of a datastore are kept: an attribute of its item of the topology table, so that who reads cells
 * knows it together with where they are.
 */

/**
 * Writes the rules of a datastore that is there, in the place of those before.
 *
 * @param rules undefined: cells are kept for good
 */
export async function writeRetention(
  { client, table }: DynamoTable,
  datastore: string,
  rules: readonly RetentionRule[] | undefined,
): Promise<void> {
  await client.send(
    new UpdateItemCommand({
      TableName: table,
      Key: { pk: { S: `datastore#${datastore}` } },
      UpdateExpression: rules ? 'SET retention = :rules' : 'REMOVE retention',
      ConditionExpression: 'attribute_exists(pk)',
      ...(rules && { ExpressionAttributeValues: { ':rules': { S: JSON.stringify(rules) } } }),
    }),
  );
}

export function toRetention(item: Record<string, AttributeValue>): Pick<DatastoreTopology, 'retention'> {
  const text = item['retention']?.S;
  return text === undefined ? {} : { retention: JSON.parse(text) as readonly RetentionRule[] };
}

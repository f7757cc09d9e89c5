import { ScanCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { deleteState } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';

/** The items of the state table that belong to a datastore: which part of their keys names it. */
const NAMED: Readonly<Record<string, number>> = {
  follower: 2,
  offsets: 2,
  checkpoints: 2,
  workers: 2,
  due: 2,
  trigger: 1,
  troubled: 1,
  malformed: 1,
  consumed: 1,
  pending: 1,
  verified: 1,
  verifying: 1,
  writer: 1,
  move: 1,
  erasure: 1,
  erasures: 1,
  erasing: 1,
  retention: 1,
  retained: 1,
};

/** Deletes all that the state table keeps of a datastore. Returns whether nothing is left. */
export async function forgetState(
  stateTable: DynamoTable,
  datastore: string,
  mayGoOn: () => boolean,
): Promise<boolean> {
  let start: Record<string, AttributeValue> | undefined;
  do {
    const page = await stateTable.client.send(
      new ScanCommand({
        TableName: stateTable.table,
        ConsistentRead: true,
        ProjectionExpression: 'pk',
        ExclusiveStartKey: start,
      }),
    );
    for (const key of (page.Items ?? []).map(({ pk }) => pk?.S ?? '')) {
      if (!isOf(key, datastore)) continue;
      if (!mayGoOn()) return false;
      await deleteState(stateTable, key);
    }
    start = page.LastEvaluatedKey;
  } while (start);
  return true;
}

function isOf(key: string, datastore: string): boolean {
  const parts = key.split('#');
  const position = NAMED[parts[0] ?? ''];
  return position !== undefined && parts[position] === datastore;
}

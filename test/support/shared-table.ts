import { afterAll, inject } from 'vitest';
import type { DynamoTable } from '../../shared/dynamo/table.ts';
import { dynamoClient, newTable } from './dynamo.ts';

/** A table of DynamoDB that the tests of a file share; its client ends with them. */
export async function sharedTable(): Promise<DynamoTable> {
  const table = await newTable(dynamoClient(inject('servers').dynamo));
  afterAll(() => table.client.destroy());
  return table;
}

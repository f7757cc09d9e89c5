import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** A DynamoDB table and who reaches it. Every table of the store has one key, `pk`, text. */
export interface DynamoTable {
  readonly client: DynamoDBClient;
  readonly table: string;
}

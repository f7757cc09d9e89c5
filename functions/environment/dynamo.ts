import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/**
 * A client of DynamoDB that gives up in good time: the SDK waits for ever by default, and what a table does not answer
 * must not hold writes that need only MySQL.
 */
export function dynamoClient(): DynamoDBClient {
  return new DynamoDBClient({
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  });
}

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Returns a client with short time limits: an unavailable table must not delay writes that need only MySQL. */
export function dynamoClient(): DynamoDBClient {
  return new DynamoDBClient({
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  });
}

import { SQSClient } from '@aws-sdk/client-sqs';

/**
 * A client of SQS with short time limits; a long poll takes up to five seconds. Uses the environment's endpoint,
 * whatever host is in a queue's URL.
 */
export function sqsClient(): SQSClient {
  return new SQSClient({
    useQueueUrlAsEndpoint: false,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
}

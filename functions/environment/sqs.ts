import { SQSClient } from '@aws-sdk/client-sqs';

/** An SQS client with short time limits, for the environment's endpoint, whatever host a queue's URL names. */
export function sqsClient(): SQSClient {
  return new SQSClient({
    useQueueUrlAsEndpoint: false,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
}

import { SQSClient } from '@aws-sdk/client-sqs';

/** Returns a client with short time limits, which ignores the host in a queue's URL for the environment's endpoint. */
export function sqsClient(): SQSClient {
  return new SQSClient({
    useQueueUrlAsEndpoint: false,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
}

import { SQSClient } from '@aws-sdk/client-sqs';

/**
 * A client of SQS that gives up in good time, which the SDK does not by default; a long poll may take five seconds. It
 * goes to the endpoint that the environment names, whatever host stands in a queue's URL: an emulator's may not
 * resolve.
 */
export function sqsClient(): SQSClient {
  return new SQSClient({
    useQueueUrlAsEndpoint: false,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
}

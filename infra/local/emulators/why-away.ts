import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { awsLogin } from '../login/aws-login.ts';
import type { ServiceName } from './emulator.ts';

const ANSWER_MS = 5000;

/** Asks a service at a URL once, for up to 5 s. Returns why it does not answer, or undefined. */
export async function whyAway(name: ServiceName, url: string): Promise<string | undefined> {
  const options = {
    endpoint: url,
    ...awsLogin(),
    maxAttempts: 1,
    requestHandler: { connectionTimeout: ANSWER_MS, requestTimeout: ANSWER_MS, throwOnRequestTimeout: true },
  };
  const client = name === 'sqs' ? new SQSClient(options) : new DynamoDBClient(options);
  try {
    await (client instanceof SQSClient
      ? client.send(new ListQueuesCommand({}))
      : client.send(new ListTablesCommand({ Limit: 1 })));
    return undefined;
  } catch (error) {
    // A name with several addresses fails with one error for each, without a message of its own.
    const { message, code, name: kind } = Object(error);
    return String(message || code || kind);
  } finally {
    client.destroy();
  }
}

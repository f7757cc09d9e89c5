import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { awsLogin } from '../login/aws-login.ts';
import type { ServiceName } from './emulator.ts';

/** Ample for a service that has something else to do, and short for somebody who waits for it in vain. */
const ANSWER_MS = 5000;

/** Asks once, for 5 s at most, whether a service answers at a URL. Returns why not, undefined when it does. */
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
    // A name of several addresses fails with one error for each, and no message of its own.
    const { message, code, name: kind } = Object(error);
    return String(message || code || kind);
  } finally {
    client.destroy();
  }
}

import { stackId, type DataFolder } from '../folder/data-folder.ts';
import { elsewhere, type ServiceName } from './emulator.ts';
import { startService } from './start-service.ts';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { dynamoClient, onceWithin, sqsClient } from '../login/clients.ts';

const TITLES = { dynamodb: 'DynamoDB', sqs: 'SQS' };
const VARIABLES = { dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB', sqs: 'AWS_ENDPOINT_URL_SQS' } as const;

/**
 * Opens the service where the environment names one, else starts the emulator. Other stacks may share an outside
 * service, so names end with an id of this stack's data. Throws an Error that names the variable if the service does
 * not answer.
 */
export async function openService(
  name: ServiceName,
  folder: DataFolder,
  log: (line: string) => void,
  onRefused: (why: string) => void = () => {},
) {
  const variable = VARIABLES[name];
  const other = elsewhere(variable);
  if (!other) return { ...(await startService(name, folder[name], onRefused)), suffix: '' };
  const why = await whyUnavailable(name, other.url);
  if (why !== undefined)
    throw new Error(`${variable}: wanted an address where ${TITLES[name]} answers, got ${other.url}: ${why}`);
  const suffix = `-${stackId(folder)}`;
  log(`${TITLES[name]} is at ${other.url}, as ${variable} says; what this stack has there ends with ${suffix}`);
  return { ...other, suffix };
}

const ANSWER_MS = 5000;

/** Asks a service at a URL once, for up to 5 s. Returns why it does not answer, or undefined. */
export async function whyUnavailable(name: ServiceName, url: string): Promise<string | undefined> {
  try {
    if (name === 'sqs') {
      using client = sqsClient(url, onceWithin(ANSWER_MS));
      await client.send(new ListQueuesCommand({}));
    } else {
      using client = dynamoClient(url, onceWithin(ANSWER_MS));
      await client.send(new ListTablesCommand({ Limit: 1 }));
    }
    return undefined;
  } catch (error) {
    // A name with several addresses fails with one error for each, and no message for all.
    const { message, code, name: kind } = Object(error);
    return String(message || code || kind);
  }
}

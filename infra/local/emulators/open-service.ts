import { stackId, type DataFolder } from '../folder/data-folder.ts';
import { elsewhere, type Service, type ServiceName } from './emulator.ts';
import { startService } from './start-service.ts';
import { whyAway } from './why-away.ts';

interface OpenedService extends Service {
  /** Ends the names of the stack's queues or tables; empty where no other stack has any. */
  readonly suffix: string;
}

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
): Promise<OpenedService> {
  const variable = VARIABLES[name];
  const other = elsewhere(variable);
  if (!other) return { ...(await startService(name, folder[name], onRefused)), suffix: '' };
  const why = await whyAway(name, other.url);
  if (why !== undefined)
    throw new Error(`${variable}: wanted an address where ${TITLES[name]} answers, got ${other.url}: ${why}`);
  const suffix = `-${stackId(folder)}`;
  log(`${TITLES[name]} is at ${other.url}, as ${variable} says; what this stack has there ends with ${suffix}`);
  return { ...other, suffix };
}

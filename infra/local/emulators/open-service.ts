import { stackId, type DataFolder } from '../folder/data-folder.ts';
import { elsewhere, type Service, type ServiceName } from './emulator.ts';
import { startService } from './start-service.ts';
import { whyAway } from './why-away.ts';

/** SQS or DynamoDB of a running stack. */
interface OpenedService extends Service {
  /** Behind the names of what the stack makes there: empty where nobody else makes anything. */
  readonly suffix: string;
}

const TITLES = { dynamodb: 'DynamoDB', sqs: 'SQS' };
const VARIABLES = { dynamodb: 'AWS_ENDPOINT_URL_DYNAMODB', sqs: 'AWS_ENDPOINT_URL_SQS' } as const;

/**
 * The service where the environment says that it runs, which is said aloud, else the emulator of this machine, started.
 * Elsewhere other stacks may have queues and tables, so each stack's names end with an id of its data.
 *
 * @param log told where it is, when it is elsewhere
 * @param onRefused told of each call that a function may not make
 * @throws Error that names the variable, when nobody answers there as this service
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

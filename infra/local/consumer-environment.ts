import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { ENVIRONMENT_VARIABLES } from '../../shared/environment.ts';
import type { Endpoints } from './endpoints.ts';
import { PSEUDO } from './template/template.ts';

/**
 * The environment variables with which a process of its own consumes a trigger of a running stack: as those of the
 * trigger's function there would be, and for everything else nothing.
 *
 * @throws an Error when the stack has no tables, and what its DynamoDB throws when it is away
 */
export async function consumerEnvironment({ http, sqs, dynamodb }: Pick<Endpoints, 'http' | 'sqs' | 'dynamodb'>, datastore: string): Promise<Readonly<Record<string, string>>> {
  const tables = await tableNames(dynamodb);
  const table = (name: string): string => {
    // Named after their place in the app, the construct `tables`.
    const found = tables.find((candidate) => candidate.includes(`tables${name}`));
    if (found === undefined) throw new Error(`${dynamodb}: wanted the table ${name} of a stack, got ${tables.length === 0 ? 'no tables' : tables.join(', ')}`);
    return found;
  };
  return {
    [ENVIRONMENT_VARIABLES.environment]: 'local',
    [ENVIRONMENT_VARIABLES.topologyTable]: table('topology'),
    [ENVIRONMENT_VARIABLES.stateTable]: table('state'),
    [ENVIRONMENT_VARIABLES.apiUrl]: http,
    [ENVIRONMENT_VARIABLES.datastore]: datastore,
    AWS_REGION: PSEUDO.region,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_SQS: sqs,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
  };
}

async function tableNames(endpoint: string): Promise<readonly string[]> {
  const client = new DynamoDBClient({
    endpoint,
    region: PSEUDO.region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: { connectionTimeout: 1000, requestTimeout: 5000, throwOnRequestTimeout: true },
  });
  try {
    return (await Array.fromAsync(paginateListTables({ client }, {}), ({ TableNames = [] }) => TableNames)).flat();
  } finally {
    client.destroy();
  }
}

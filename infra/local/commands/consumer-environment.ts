import { environmentOf, type ConsumerVariable } from '../../../shared/environment.ts';
import { loginVariables } from '../login/aws-login.ts';
import type { Endpoints } from '../running/endpoints.ts';

/**
 * Returns the environment for a process that consumes a trigger of a running stack. Throws an Error if the stack has no
 * such tables.
 */
export function consumerEnvironment(
  { http, sqs, dynamodb, tables }: Omit<Endpoints, 'groups' | 'rdsData'>,
  datastore: string,
): Readonly<Record<string, string>> {
  const table = (name: string): string => {
    const found = tables.find((candidate) => candidate.includes(`tables${name}`));
    if (found === undefined)
      throw new Error(
        `tables: wanted the table ${name} of a stack, got ${tables.length === 0 ? 'no tables' : tables.join(', ')}`,
      );
    return found;
  };
  return {
    ...environmentOf<ConsumerVariable>({
      environment: 'local',
      topologyTable: table('topology'),
      stateTable: table('state'),
      apiUrl: http,
      datastore,
    }),
    ...loginVariables(),
    AWS_ENDPOINT_URL_SQS: sqs,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
  };
}

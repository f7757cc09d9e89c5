import { environmentOf, type ConsumerVariable } from '../../../shared/environment.ts';
import { loginVariables } from '../login/aws-login.ts';
import { tableOf, type Endpoints } from '../running/endpoints.ts';

/** Returns the environment of a process that consumes a running stack's trigger. Throws an Error. */
export function consumerEnvironment(
  endpoints: Omit<Endpoints, 'groups' | 'rdsData'>,
  datastore: string,
): Readonly<Record<string, string>> {
  const { http, sqs, dynamodb } = endpoints;
  return {
    ...environmentOf<ConsumerVariable>({
      environment: 'local',
      topologyTable: tableOf(endpoints, 'topology'),
      stateTable: tableOf(endpoints, 'state'),
      apiUrl: http,
      datastore,
    }),
    ...loginVariables(),
    AWS_ENDPOINT_URL_SQS: sqs,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb,
  };
}

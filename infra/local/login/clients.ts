import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { awsLogin } from './aws-login.ts';
import { requestSigner, type Sign } from '../../../shared/client/sign-request.ts';

/** A client of the stack's DynamoDB, for `using`: it is destroyed where its block ends. */
export function dynamoClient(endpoint: string, config: DynamoDBClientConfig = {}): DynamoDBClient & Disposable {
  return disposable(new DynamoDBClient({ endpoint, ...awsLogin(), ...config }));
}

/** The same of SQS. */
export function sqsClient(endpoint: string, config: SQSClientConfig = {}): SQSClient & Disposable {
  return disposable(new SQSClient({ endpoint, ...awsLogin(), ...config }));
}

/** One request, which fails after so long: the caller decides whether to repeat it. */
export function onceWithin(requestTimeout: number, connectionTimeout = requestTimeout) {
  return { maxAttempts: 1, requestHandler: { connectionTimeout, requestTimeout, throwOnRequestTimeout: true } };
}

function disposable<Client extends { destroy(): void }>(client: Client): Client & Disposable {
  return Object.assign(client, { [Symbol.dispose]: () => client.destroy() });
}

/** Signs requests to the stack's HTTP API as its functions do. */
export function localSigner(): Sign {
  const { region, credentials } = awsLogin();
  return requestSigner(region, credentials);
}

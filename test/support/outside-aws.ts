import { whyUnavailable } from '../../infra/local/emulators/open-service.ts';

/** SQS and DynamoDB of a run that does not use its own emulators. */
export interface OutsideAws {
  /** URLs. */
  readonly sqs: string;
  readonly dynamodb: string;
  /** Why the tests that talk to them are skipped; undefined if both answer. */
  readonly unavailable: string | undefined;
}

/** LocalStack's default address. */
const LOCALSTACK = 'http://127.0.0.1:4566';

/**
 * Reads `SCHEMALESS_AWS`: `built-in`, which is the default, or `localstack`, at the addresses in the SDK's own
 * variables. Removes these variables from the environment, so that nothing else of the run finds them.
 *
 * @returns undefined for the run's own emulators
 * @throws Error naming SCHEMALESS_AWS for any other value
 */
export async function requestedAws(environment: NodeJS.ProcessEnv): Promise<OutsideAws | undefined> {
  const desired = environment['SCHEMALESS_AWS'] ?? 'built-in';
  if (desired !== 'built-in' && desired !== 'localstack')
    throw new Error(`SCHEMALESS_AWS: wanted built-in or localstack, got ${JSON.stringify(desired)}`);
  const take = (variable: string): string | undefined => {
    const value = environment[variable];
    delete environment[variable];
    return value === '' ? undefined : value;
  };
  const [all, ...given] = ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_SQS', 'AWS_ENDPOINT_URL_DYNAMODB'].map(take);
  if (desired === 'built-in') return undefined;
  const [sqs = LOCALSTACK, dynamodb = LOCALSTACK] = given.map((url) => url ?? all);
  const [withoutSqs, withoutDynamo] = await Promise.all([
    whyUnavailable('sqs', sqs),
    whyUnavailable('dynamodb', dynamodb),
  ]);
  const reasons = [
    ...(withoutSqs === undefined ? [] : [`SQS does not answer at ${sqs} (${withoutSqs})`]),
    ...(withoutDynamo === undefined ? [] : [`DynamoDB does not answer at ${dynamodb} (${withoutDynamo})`]),
  ];
  return { sqs, dynamodb, unavailable: reasons.length === 0 ? undefined : reasons.join(', ') };
}

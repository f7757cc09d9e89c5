import { whyAway } from '../../infra/local/emulators/open-service.ts';

/** SQS and DynamoDB of a run where they are not its own emulators. */
export interface OutsideAws {
  /** URLs. */
  readonly sqs: string;
  readonly dynamodb: string;
  /** Why the tests that talk to them are skipped; undefined where both answer. */
  readonly away: string | undefined;
}

/** Where LocalStack listens unless told otherwise. */
const LOCALSTACK = 'http://127.0.0.1:4566';

/**
 * What `SCHEMALESS_AWS` wishes for: `built-in`, which is the default, or `localstack`, at the addresses that the SDK's
 * own variables give. Takes these variables out of the environment: nothing else of the run is to find them.
 *
 * @returns undefined for emulators of the run's own
 * @throws Error naming SCHEMALESS_AWS for any other wish
 */
export async function wishedAws(environment: NodeJS.ProcessEnv): Promise<OutsideAws | undefined> {
  const wish = environment['SCHEMALESS_AWS'] ?? 'built-in';
  if (wish !== 'built-in' && wish !== 'localstack')
    throw new Error(`SCHEMALESS_AWS: wanted built-in or localstack, got ${JSON.stringify(wish)}`);
  const take = (variable: string): string | undefined => {
    const value = environment[variable];
    delete environment[variable];
    return value === '' ? undefined : value;
  };
  const [all, ...given] = ['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_SQS', 'AWS_ENDPOINT_URL_DYNAMODB'].map(take);
  if (wish === 'built-in') return undefined;
  const [sqs = LOCALSTACK, dynamodb = LOCALSTACK] = given.map((url) => url ?? all);
  const [withoutSqs, withoutDynamo] = await Promise.all([whyAway('sqs', sqs), whyAway('dynamodb', dynamodb)]);
  const reasons = [
    ...(withoutSqs === undefined ? [] : [`SQS does not answer at ${sqs} (${withoutSqs})`]),
    ...(withoutDynamo === undefined ? [] : [`DynamoDB does not answer at ${dynamodb} (${withoutDynamo})`]),
  ];
  return { sqs, dynamodb, away: reasons.length === 0 ? undefined : reasons.join(', ') };
}

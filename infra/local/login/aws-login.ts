import { accessKeyOf } from '../iam/access-key.ts';
import { serviceUrl } from './service-url.ts';
import { PSEUDO } from '../arn.ts';

/** What requests to SQS and DynamoDB are signed with, as the SDK's clients take it. */
export interface AwsLogin {
  readonly region: string;
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/**
 * What requests to SQS and DynamoDB are signed with. Where the environment says that one of them runs elsewhere, region
 * and keys come from it too, by the SDK's own variables: others may keep what they are sent apart by both. What is
 * built in wants none of them, and whatever else the machine's owner has set up is not to be found.
 *
 * @default us-east-1, and `local` for either key
 */
export function awsLogin(): AwsLogin {
  const isElsewhere = serviceUrl('AWS_ENDPOINT_URL_SQS') ?? serviceUrl('AWS_ENDPOINT_URL_DYNAMODB');
  const given = (variable: string): string | undefined =>
    isElsewhere && process.env[variable] !== '' ? process.env[variable] : undefined;
  const sessionToken = given('AWS_SESSION_TOKEN');
  return {
    region: given('AWS_REGION') ?? given('AWS_DEFAULT_REGION') ?? PSEUDO.region,
    credentials: {
      accessKeyId: given('AWS_ACCESS_KEY_ID') ?? 'local',
      secretAccessKey: given('AWS_SECRET_ACCESS_KEY') ?? 'local',
      ...(sessionToken !== undefined && { sessionToken }),
    },
  };
}

/**
 * Whose queues they are: LocalStack takes an access key of twelve digits for its account, any other for that of zeros.
 */
export function awsAccount(): string {
  const { accessKeyId } = awsLogin().credentials;
  return serviceUrl('AWS_ENDPOINT_URL_SQS') && /^\d{12}$/u.test(accessKeyId) ? accessKeyId : PSEUDO.account;
}

/**
 * What a function of the stack signs with: an access key of its own, by which the services know what it may. Where one of
 * them runs elsewhere, that judges whom it lets in, and all have the same.
 */
export function loginOfFunction(name: string): AwsLogin {
  const login = awsLogin();
  if (SERVICES_APART.some((service) => serviceUrl(`AWS_ENDPOINT_URL_${service}`))) return login;
  return { ...login, credentials: { ...login.credentials, accessKeyId: accessKeyOf(name) } };
}

const SERVICES_APART = ['SQS', 'DYNAMODB', 'RDS_DATA'] as const;

/** The same for a process whose SDK finds it in its environment. */
export function loginVariables({ region, credentials } = awsLogin()): Readonly<Record<string, string>> {
  return {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...(credentials.sessionToken !== undefined && { AWS_SESSION_TOKEN: credentials.sessionToken }),
  };
}

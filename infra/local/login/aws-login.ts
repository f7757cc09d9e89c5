import { accessKeyOf } from '../iam/access-key.ts';
import { PSEUDO } from '../arn.ts';

type AwsLogin = ReturnType<typeof awsLogin>;

/** Returns the login for SQS and DynamoDB: the SDK's variables if one runs elsewhere, else any. */
export function awsLogin() {
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

/** The account of the queues: LocalStack takes a twelve-digit access key for its account. */
export function awsAccount(): string {
  const { accessKeyId } = awsLogin().credentials;
  return serviceUrl('AWS_ENDPOINT_URL_SQS') && /^\d{12}$/u.test(accessKeyId) ? accessKeyId : PSEUDO.account;
}

/** Returns a function's own access key, by which services know its rights; shared if one is elsewhere. */
export function loginOfFunction(name: string): AwsLogin {
  const login = awsLogin();
  if (SEPARATE_SERVICES.some((service) => serviceUrl(`AWS_ENDPOINT_URL_${service}`))) return login;
  return { ...login, credentials: { ...login.credentials, accessKeyId: accessKeyOf(name) } };
}

const SEPARATE_SERVICES = ['SQS', 'DYNAMODB', 'RDS_DATA'] as const;

/** The same as environment variables. */
export function loginVariables({ region, credentials } = awsLogin()): Readonly<Record<string, string>> {
  return {
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...(credentials.sessionToken !== undefined && { AWS_SESSION_TOKEN: credentials.sessionToken }),
  };
}

/** Returns the SDK variable's URL of an outside service. Throws an Error that names an invalid one. */
export function serviceUrl(variable: `AWS_ENDPOINT_URL_${string}`): string | undefined {
  const url = process.env[variable];
  if (url === undefined || url === '') return undefined;
  if (!/^https?:\/\//u.test(url) || !URL.canParse(url))
    throw new Error(`${variable}: wanted a URL such as http://127.0.0.1:4566, got ${JSON.stringify(url)}`);
  return url.replace(/\/$/u, '');
}

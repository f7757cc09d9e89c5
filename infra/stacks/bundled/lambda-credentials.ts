import { fromHttp } from '@aws-sdk/credential-provider-http';

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/**
 * Replaces `@aws-sdk/credential-provider-node` in the bundles. A Lambda function's environment has its credentials, for
 * as long as the instance lives, or an address that returns them. The package's other sources (profiles, SSO, web
 * identities, EC2) take 130 KB of each bundle.
 */
export function defaultProvider(): () => Promise<Credentials> {
  // It throws without an address.
  let ask: ReturnType<typeof fromHttp> | undefined;
  let known: Promise<Credentials> | undefined;
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
    if (AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY)
      return {
        accessKeyId: AWS_ACCESS_KEY_ID,
        secretAccessKey: AWS_SECRET_ACCESS_KEY,
        ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
      };
    const { expiration } = (await known?.catch(() => undefined)) ?? { expiration: new Date(0) };
    if (expiration && expiration.getTime() - Date.now() < ASKED_BEFORE_MS) known = undefined;
    return (known ??= (ask ??= fromHttp())());
  };
}

/** So long before they expire, others are asked for. */
const ASKED_BEFORE_MS = 300_000;

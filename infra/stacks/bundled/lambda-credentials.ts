export interface Credentials {
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
  let known: Promise<Credentials> | undefined;
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
    if (AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY)
      return {
        accessKeyId: AWS_ACCESS_KEY_ID,
        secretAccessKey: AWS_SECRET_ACCESS_KEY,
        ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
      };
    const former = known;
    const { expiration } = (await former?.catch(() => undefined)) ?? { expiration: new Date(0) };
    const isOver = expiration !== undefined && expiration.getTime() - Date.now() < ASKED_BEFORE_MS;
    // Another request may have asked since.
    if (isOver && known === former) known = undefined;
    return (known ??= ask());
  };
}

/** So long before they expire, others are asked for. */
const ASKED_BEFORE_MS = 300_000;

const TRIES = 3;
const TIMEOUT_MS = 1000;

/** Asks the address that the environment names for credentials. Throws an Error without one. */
async function ask(): Promise<Credentials> {
  const {
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: url = path && `http://169.254.170.2${path}`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: given,
  } = process.env;
  if (!url) throw new Error('AWS_ACCESS_KEY_ID: wanted the credentials of a function, got none');
  const token = file ? process.getBuiltinModule('node:fs').readFileSync(file, 'utf8') : given;
  const headers: Record<string, string> = token ? { authorization: token } : {};
  for (let tries = 1; ; tries += 1) {
    try {
      const answer = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (!answer.ok) throw new Error(`${url}: wanted credentials, got ${answer.status}`);
      const { AccessKeyId, SecretAccessKey, Token, Expiration } = (await answer.json()) as Record<string, string>;
      if (!AccessKeyId || !SecretAccessKey) throw new Error(`${url}: wanted credentials, got an answer without them`);
      return {
        accessKeyId: AccessKeyId,
        secretAccessKey: SecretAccessKey,
        ...(Token !== undefined && { sessionToken: Token }),
        ...(Expiration !== undefined && { expiration: new Date(Expiration) }),
      };
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

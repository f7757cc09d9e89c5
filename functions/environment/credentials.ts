import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Credentials } from '../../shared/sql/mysql-client.ts';

/** Long enough for the pools of a group to share one look-up; short enough that a rotated password is soon seen. */
const KEPT_MS = 10_000;

/**
 * The login of a group, from its secret in AWS Secrets Manager.
 *
 * Meant to be called when connections are opened: look-ups within 10 s of each other are one, and a failed one is
 * not remembered.
 *
 * @param secret ARN or name; its value is `{"username": …, "password": …}`
 * @param now milliseconds, for tests @default Date.now
 * @returns a function that throws an Error naming the secret, never its value
 */
export function secretCredentials(
  client: Pick<SecretsManagerClient, 'send'>,
  secret: string,
  now: () => number = Date.now,
): () => Promise<Credentials> {
  let kept: { readonly credentials: Promise<Credentials>; readonly until: number } | undefined;
  return () => {
    if (kept !== undefined && now() < kept.until) return kept.credentials;
    const credentials = readSecret(client, secret);
    const mine = { credentials, until: now() + KEPT_MS };
    kept = mine;
    credentials.catch(() => {
      if (kept === mine) kept = undefined;
    });
    return credentials;
  };
}

async function readSecret(client: Pick<SecretsManagerClient, 'send'>, secret: string): Promise<Credentials> {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secret }));
  const value = parse(SecretString ?? '');
  const { username, password } = value;
  if (typeof username !== 'string' || typeof password !== 'string') {
    throw new Error(`The secret ${secret}: wanted JSON with the strings username and password`);
  }
  return { username, password };
}

/** JSON.parse quotes the text in its errors, and this text is secret. */
function parse(text: string): { readonly username?: unknown; readonly password?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

import { hash } from 'node:crypto';
import type { KeyStore } from '../../shared/sealed/key-store.ts';
import { NO_ROOT_KEY, type KeyVariable } from '../../shared/environment.ts';
import type { Config } from './config.ts';
import { dynamoClient } from './dynamo.ts';

export function keyStore({ keysTable, rootSecret }: Pick<Config, KeyVariable>): KeyStore {
  return {
    table: { client: dynamoClient(), table: keysTable },
    root: rootSecret === NO_ROOT_KEY ? undefined : () => readRootKey(rootSecret),
  };
}

/** Letters and digits. */
interface RootSecret {
  readonly key?: unknown;
}

/** Returns the SHA-256 of the secret's text. Throws an Error with the secret's name, never its value. */
async function readRootKey(secret: string): Promise<Uint8Array> {
  // Loaded only for sealed fields.
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  // An erasure must be answered without it; its record is then unsigned.
  const client = new SecretsManagerClient({
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  });
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secret }));
    const { key } = parse(SecretString ?? '');
    if (typeof key !== 'string' || key.length < LEAST_CHARACTERS)
      throw new Error(`The secret ${secret}: wanted JSON with the string key, of ${LEAST_CHARACTERS} characters`);
    return hash('sha256', key, 'buffer');
  } finally {
    client.destroy();
  }
}

/** Of 62 each: 256 bits. */
const LEAST_CHARACTERS = 43;

/** JSON.parse would quote the secret in its error. */
function parse(text: string): RootSecret {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

import { hash } from 'node:crypto';
import type { KeyStore } from '../../shared/sealed/key-store.ts';
import { NO_ROOT_KEY, type KeyVariable } from '../../shared/environment.ts';
import type { Config } from './config.ts';
import { dynamoClient } from './dynamo.ts';

/** Where keys are kept, and the root key above them, which is asked for only where a key is needed. */
export function keyStore({ keysTable, rootSecret }: Pick<Config, KeyVariable>): KeyStore {
  return {
    table: { client: dynamoClient(), table: keysTable },
    root: rootSecret === NO_ROOT_KEY ? undefined : () => readRootKey(rootSecret),
  };
}

/** The text of a secret, letters and digits. */
interface RootSecret {
  readonly key?: unknown;
}

/**
 * The root key is the SHA-256 of what the secret holds: 32 bytes of a text of more than that.
 *
 * @throws Error naming the secret, never its value
 */
async function readRootKey(secret: string): Promise<Uint8Array> {
  // Where nothing is sealed, nobody loads this.
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  // An answer is to be had without it, too: that of an erasure, whose record is not signed then.
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

/** JSON.parse quotes the text in its errors, and this text is secret. */
function parse(text: string): RootSecret {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

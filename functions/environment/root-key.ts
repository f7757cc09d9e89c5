import { hash } from 'node:crypto';
import type { KeyStore } from '../../shared/sealed/key-store.ts';
import { NO_ROOT_KEY, type KeyVariable } from '../../shared/environment.ts';
import type { Config } from './config.ts';
import { dynamoClient } from './dynamo.ts';
import { secretMembers } from './secret-members.ts';

export function keyStore({ keysTable, rootSecret }: Pick<Config, KeyVariable>): KeyStore {
  return {
    table: { client: dynamoClient(), table: keysTable },
    root: rootSecret === NO_ROOT_KEY ? undefined : () => readRootKeys(rootSecret),
  };
}

/**
 * Returns SHA-256 of `key`, and during a rotation of `former`. Throws an Error with the secret's name, not its value.
 */
async function readRootKeys(secret: string): Promise<readonly Uint8Array[]> {
  // Loaded only for sealed fields.
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  // An erasure must be answered without it; its record is then unsigned.
  const client = new SecretsManagerClient({
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
  });
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secret }));
    const { key, former = key } = secretMembers(SecretString);
    return [...new Set([key, former])].map((text) => {
      if (typeof text === 'string' && text.length >= LEAST_CHARACTERS) return hash('sha256', text, 'buffer');
      throw new Error(`The secret ${secret}: wanted JSON with the string key, of ${LEAST_CHARACTERS} characters`);
    });
  } finally {
    client.destroy();
  }
}

/** 256 bits, at 62 possible characters. */
const LEAST_CHARACTERS = 43;

import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { Credentials } from '../../shared/sql/mysql-client.ts';
import { secretMembers } from './secret-members.ts';
import type { DatabaseAuth } from '../../shared/environment.ts';
import type { UserLogin } from '../../shared/migrate/create-users.ts';
import { MADE_USERS, type MadeUser } from '../../shared/topology/database-users.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';
import { secretOf } from './connect/connector.ts';

/** Long enough for a group's pools to share one look-up, short enough to use a rotated password soon. */
const KEPT_MS = 10_000;

/**
 * Returns a reader of a login from its secret, `{"username": …, "password": …}`, for new connections. Look-ups within
 * 10 s share one request; failures are not cached. The reader throws an Error that names the secret, never its value.
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
  const { username, password } = secretMembers(SecretString);
  if (typeof username !== 'string' || typeof password !== 'string')
    throw new Error(`The secret ${secret}: wanted JSON with the strings username and password`);
  return { username, password };
}

/** Tokens, or secrets. */
export function userLogins(
  auth: DatabaseAuth,
  client: Pick<SecretsManagerClient, 'send'>,
): (group: GroupAddress) => Promise<Readonly<Record<MadeUser, UserLogin>>> {
  return async (group) => {
    const logins = await Promise.all(
      MADE_USERS.map(async (user): Promise<readonly [MadeUser, UserLogin]> => [
        user,
        auth === 'iam' ? 'token' : await secretCredentials(client, secretOf(group, user))(),
      ]),
    );
    return Object.fromEntries(logins) as Record<MadeUser, UserLogin>;
  };
}

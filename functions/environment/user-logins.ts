import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { DatabaseAuth } from '../../shared/environment.ts';
import type { UserLogin } from '../../shared/migrate/create-users.ts';
import { MADE_USERS, type MadeUser } from '../../shared/topology/database-users.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';
import { secretOf } from './connect/connector.ts';
import { secretCredentials } from './credentials.ts';

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

import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { MADE_USERS, type MadeUser } from '../../shared/topology/database-users.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';
import { secretOf } from './connect/connector.ts';
import { secretCredentials } from './credentials.ts';

/** The passwords of a group's users, from their secrets. */
export function userPasswords(
  client: Pick<SecretsManagerClient, 'send'>,
): (group: GroupAddress) => Promise<Readonly<Record<MadeUser, string>>> {
  return async (group) => {
    const known = await Promise.all(
      MADE_USERS.map(
        async (user) => [user, (await secretCredentials(client, secretOf(group, user))()).password] as const,
      ),
    );
    return Object.fromEntries(known) as Record<MadeUser, string>;
  };
}

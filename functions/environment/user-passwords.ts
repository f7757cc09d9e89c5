import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { MADE_USERS, type MadeUser } from '../../shared/topology/database-users.ts';
import type { GroupAddress } from '../../shared/topology/topology.ts';
import { secretOf } from './connect/connector.ts';
import { secretCredentials } from './credentials.ts';

/**
 * The passwords of a group's users, from their secrets; none of a user that came with a later release than the group was
 * last deployed by.
 */
export function userPasswords(
  client: Pick<SecretsManagerClient, 'send'>,
): (group: GroupAddress) => Promise<Readonly<Partial<Record<MadeUser, string>>>> {
  return async (group) => {
    const { userSecrets } = group;
    const users = MADE_USERS.filter((user) => !userSecrets || Boolean(userSecrets[user]));
    const known = await Promise.all(
      users.map(async (user) => [user, (await secretCredentials(client, secretOf(group, user))()).password] as const),
    );
    return Object.fromEntries(known);
  };
}

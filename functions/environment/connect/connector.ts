import type { SqlClient } from '../../../shared/sql/client.ts';
import type { Guard } from '../../../shared/sql/guarded-client.ts';
import { userName, type DatabaseUser } from '../../../shared/topology/database-users.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import type { StoreConfig } from '../config.ts';

export interface ConnectSettings {
  /** The time limit of a statement. @default the access's own */
  readonly statementMs?: number;
  /** The limit of the wait for a free connection. @default 2000 */
  readonly acquireMs?: number;
}

export interface Connector {
  readonly guard: Guard;
  open(
    config: Pick<StoreConfig, 'environment' | 'databaseUser' | 'databaseAuth' | 'connections'>,
    settings?: ConnectSettings,
  ): (group: GroupAddress) => SqlClient;
}

/** Returns the secret of a user's login. Throws an Error if users log in with tokens. */
export function secretOf({ name, secret, userSecrets }: GroupAddress, user: DatabaseUser): string {
  const arn = user === 'owner' ? secret : userSecrets?.[user];
  if (arn === undefined) throw new Error(`${name}: wanted a secret of ${userName(user)}, got none`);
  return arn;
}

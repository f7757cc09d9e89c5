import type { SqlClient } from '../../../shared/sql/client.ts';
import type { Guard } from '../../../shared/sql/guarded-client.ts';
import { userName, type DatabaseUser } from '../../../shared/topology/database-users.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import type { StoreConfig } from '../config.ts';

export interface ConnectSettings {
  /** How long a statement may take. @default what the way to MySQL has */
  readonly statementMs?: number;
  /** How long a statement may wait for a free connection, where there are connections. @default 2000 */
  readonly acquireMs?: number;
}

/** A way to MySQL, as a function takes it. */
export interface Connector {
  /** The circuit breakers that it wants. */
  readonly guard: Guard;
  /** Opens clients of groups, as the user that the environment of the function names. */
  open(
    config: Pick<StoreConfig, 'environment' | 'databaseUser' | 'databaseAuth' | 'connections'>,
    settings?: ConnectSettings,
  ): (group: GroupAddress) => SqlClient;
}

/** The secret that a user logs in to a group with. Throws an Error if the group's users log in with tokens. */
export function secretOf({ name, secret, userSecrets }: GroupAddress, user: DatabaseUser): string {
  const arn = user === 'owner' ? secret : userSecrets?.[user];
  if (arn === undefined) throw new Error(`${name}: wanted a secret of ${userName(user)}, got none`);
  return arn;
}

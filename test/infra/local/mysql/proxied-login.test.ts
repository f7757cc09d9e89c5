import { expect, it } from 'vitest';
import { mysqlClient } from '../../../../shared/sql/mysql-client.ts';
import { ask, firstGroup, settled, withShardGroups } from './with-shard-groups.ts';

const USER = 'schemaless_read';
/** Of a machine that may have much else to do. */
const PATIENCE_MS = 15_000;

it('a proxy logs in the user of a good token, also on the cluster that a restore makes', async () => {
  await withShardGroups({}, async ({ groups }) => {
    const group = firstGroup(groups);
    const { name, writerEndpoint: writer, readerEndpoint: reader, resourceId } = group;
    const isOf = `token of ${USER} for ${resourceId}`;
    groups.logins.set(name, (user, token) =>
      token === `token of ${user} for ${group.resourceId}` ? undefined : `Access denied for user '${user}'`,
    );
    const userBy = async (token: string): Promise<unknown> => {
      const login = async () => ({ username: USER, token: async () => token });
      const address = { name, writer, reader, nodes: [writer, reader], sharedStorage: false };
      const client = mysqlClient(address, login, { connectTimeoutMs: PATIENCE_MS, acquireTimeoutMs: PATIENCE_MS });
      try {
        const sql = "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)";
        return (await client.select({ sql, parameters: [] }, 'writer'))[0]?.[0];
      } finally {
        await client.close();
      }
    };

    // The owner has a password.
    await ask(group, writer, `CREATE USER '${USER}'@'%' IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS'`);
    expect(await userBy(isOf)).toBe(USER);
    await expect(userBy('another')).rejects.toMatchObject({ errno: 1045 });

    await settled(groups);
    await groups.restore(name, (await groups.positions()).get(name) ?? '');
    await expect(userBy(isOf)).rejects.toMatchObject({ errno: 1045 });
    expect(group.resourceId).not.toBe(resourceId);
    expect(await userBy(`token of ${USER} for ${group.resourceId}`)).toBe(USER);
  });
});

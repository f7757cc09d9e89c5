import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUsers, type UserLogin } from '../../../shared/migrate/create-users.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import type { SqlClient, Statement } from '../../../shared/sql/client.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { appendCell } from '../../../shared/sql/statements/append-cells.ts';
import { raiseShardEpoch } from '../../../shared/sql/statements/raise-shard-epoch.ts';
import { otherName, userName, type MadeUser } from '../../../shared/topology/database-users.ts';
import { clientTo, groupAccess } from '../../support/connection-to.ts';
import { sharedTable } from '../../support/shared-table.ts';
import { PATIENT } from '../../support/store-access.ts';

const datastore = `users_${randomBytes(4).toString('hex')}`;
const database = `${datastore}_0000`;
/** Differs from the datastore's databases where a pattern has a wildcard. */
const neighbour = `${datastore.replace('_', 'x')}_0000`;
const password = (): string => randomBytes(15).toString('hex');
const ALL: readonly MadeUser[] = ['read', 'tail', 'write', 'repair', 'move', 'erase'];
const passwords = Object.fromEntries(ALL.map((user) => [user, password()])) as Record<MadeUser, string>;
const loginsOf = (given: Readonly<Record<string, string>>): Record<MadeUser, UserLogin> =>
  Object.fromEntries(
    Object.entries(given).map(([user, secret]) => [user, { username: userName(user as MadeUser), password: secret }]),
  ) as Record<MadeUser, UserLogin>;
const topologyTable = await sharedTable();
let owner: SqlClient;
const clients = new Map<MadeUser, SqlClient>();

const loginAs = (username: string, secret: string): SqlClient =>
  mysqlClient(groupAccess(), async () => ({ username, password: secret }), PATIENT);
const login = (user: MadeUser, secret = passwords[user]): SqlClient => loginAs(userName(user), secret);

beforeAll(async () => {
  owner = clientTo();
  await migrate({
    topologyTable,
    connect: clientTo,
    logins: async () => loginsOf(passwords),
    desired: { groups: [groupAccess()], datastores: [{ name: datastore, shards: 1, indexes: [], triggers: [] }] },
    mayGoOn: () => true,
  });
  for (const sql of [
    `CREATE DATABASE ${neighbour}`,
    `CREATE TABLE ${neighbour}.entity (a INT)`,
    `CREATE TABLE ${database}.by_driver (a INT PRIMARY KEY, b INT)`,
    `CREATE TABLE ${database}.by_rider (a INT PRIMARY KEY, b INT)`,
  ])
    await owner.change({ sql, parameters: [] });
  for (const user of ALL) clients.set(user, login(user));
});
afterAll(async () => {
  for (const sql of [`DROP DATABASE IF EXISTS ${neighbour}`, `DROP DATABASE IF EXISTS ${database}`])
    await owner.change({ sql, parameters: [] });
  await Promise.all([owner, ...clients.values()].map((client) => client.close()));
});

/** Returns the result of a user's statement: `done`, or the number of the server's error. */
async function outcome(user: MadeUser, { sql, parameters }: Statement): Promise<unknown> {
  const client = clients.get(user);
  const asked = sql.startsWith('SELECT')
    ? client?.select({ sql, parameters }, 'writer')
    : client?.change({ sql, parameters });
  return await asked?.then(
    () => 'done',
    ({ errno }: { readonly errno: number }) => errno,
  );
}

const plain = (sql: string): Statement => ({ sql, parameters: [] });
const append = (): Statement =>
  appendCell(
    { datastore, shard: 0, epoch: 1 },
    { row_key: randomUUID(), column_name: 'BASE', ref_key: 1, body: null, encoded: Buffer.from([1]) },
  );
/** ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_SPECIFIC_ACCESS_DENIED_ERROR. */
const DENIED = expect.toBeOneOf([1044, 1142, 1227]);

describe('the users of the functions', () => {
  it.each([
    ['reads cells', () => plain(`SELECT * FROM ${database}.entity`), ALL],
    ['reads the control tables', () => plain('SELECT COUNT(*) FROM schemaless.shard'), ALL],
    ['appends a cell', append, ['write', 'repair', 'move', 'erase']],
    [
      'empties a body',
      () => plain(`UPDATE ${database}.entity SET body = '' WHERE added_id = 0`),
      ['write', 'repair', 'move', 'erase'],
    ],
    ['deletes a cell', () => plain(`DELETE FROM ${database}.entity WHERE added_id = 0`), ['write', 'repair', 'move']],
    [
      'buffers',
      () => plain(`DELETE FROM schemaless.buffer WHERE datastore = '${datastore}'`),
      ['write', 'repair', 'erase'],
    ],
    [
      'writes index entries',
      () => plain(`INSERT INTO ${database}.by_driver VALUES (1, 1) ON DUPLICATE KEY UPDATE b = b + 1`),
      ['write', 'repair', 'move', 'erase'],
    ],
    ['raises an epoch', () => raiseShardEpoch(datastore, 0, 1), ['tail', 'write', 'repair', 'move', 'erase']],
    ['drops the table of an index', () => plain(`DROP TABLE IF EXISTS ${database}.by_rider`), ['repair', 'move']],
    ['creates a table', () => plain(`CREATE TABLE IF NOT EXISTS ${database}.more (a INT)`), ['move']],
    ['creates a copy', () => plain(`CREATE DATABASE IF NOT EXISTS ${database}_copy`), ['move']],
    ['drops a copy', () => plain(`DROP DATABASE IF EXISTS ${database}_copy`), ['repair', 'move']],
    ['alters a table', () => plain(`ALTER TABLE ${database}.entity ADD COLUMN more INT`), ['move']],
    ['drops the control tables', () => plain('DROP TABLE schemaless.buffer'), []],
    ['reads a database of another name', () => plain(`SELECT * FROM ${neighbour}.entity`), []],
    ['reads the accounts', () => plain('SELECT COUNT(*) FROM mysql.user'), []],
    ['makes users', () => plain("CREATE USER 'other'@'%' IDENTIFIED BY 'other'"), []],
  ] as const)('%s, or not', async (_, statement, allowed: readonly MadeUser[]) => {
    for (const user of ALL)
      expect([user, await outcome(user, statement())]).toEqual([user, allowed.includes(user) ? 'done' : DENIED]);
  });

  it('have the password that was last given, and no other', async () => {
    const next = { ...passwords, read: password() };
    await createUsers(owner, loginsOf(next), [datastore]);
    const [old, current] = [login('read'), login('read', next.read)];
    await expect(old.select(plain('SELECT 1'), 'writer')).rejects.toMatchObject({ errno: 1045 });
    await expect(current.select(plain('SELECT 1'), 'writer')).resolves.toEqual([[expect.anything()]]);
    await Promise.all([old.close(), current.close()]);
    await createUsers(owner, loginsOf(passwords), [datastore]);
  });

  it('have the same rights under both of their names, and keep the password of the one that is not in use', async () => {
    const other = otherName(userName('write'));
    const next = password();
    await createUsers(owner, { write: { username: other, password: next } }, [datastore]);
    const client = loginAs(other, passwords.write);
    await expect(client.select(plain('SELECT 1'), 'writer')).rejects.toMatchObject({ errno: 1045 });
    const current = loginAs(other, next);
    for (const one of [current, clients.get('write') as SqlClient]) {
      await expect(one.select(plain(`SELECT COUNT(*) FROM ${database}.entity`), 'writer')).resolves.toHaveLength(1);
      await expect(one.change(plain('DROP TABLE schemaless.buffer'))).rejects.toMatchObject({ errno: 1142 });
    }
    await Promise.all([client.close(), current.close()]);
    await expect(
      createUsers(owner, { write: { username: 'schemaless_read', password: next } }, [datastore]),
    ).rejects.toThrow('the name of schemaless_write: wanted it or schemaless_write_other, got schemaless_read');
  });

  it('log in with tokens where Aurora asks IAM: they have no password', async () => {
    const sent: string[] = [];
    const client: SqlClient = {
      ...owner,
      change: async ({ sql }) => {
        sent.push(sql);
        return { affectedRows: 0, insertId: 0 };
      },
    };
    await createUsers(client, { read: 'token' }, [datastore]);
    expect(sent.slice(0, 2)).toEqual([
      "CREATE USER IF NOT EXISTS 'schemaless_read'@'%' IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS'",
      "ALTER USER 'schemaless_read'@'%' IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS'",
    ]);
    expect(sent.slice(2)).toEqual([
      "GRANT SELECT ON `schemaless`.* TO 'schemaless_read'@'%'",
      expect.stringMatching(/^GRANT SELECT ON .* TO 'schemaless_read'@'%'$/u),
    ]);
  });

  it('get no password that would need quotes, and the error does not show it', async () => {
    const wrong = { ...passwords, tail: "a'; DROP TABLE schemaless.shard; -- " };
    await expect(createUsers(owner, loginsOf(wrong), [datastore])).rejects.toThrow(
      'the password of schemaless_tail: wanted 20 to 128 letters and digits, got 36 characters',
    );
  });
});

import type { SqlClient } from '../sql/client.ts';
import { otherName, userName, type MadeUser } from '../topology/database-users.ts';

/** What each user may do in the control database, and in those of the shards. */
const GRANTS: Readonly<Record<MadeUser, { readonly control: readonly string[]; readonly shards: string }>> = {
  read: { control: ['SELECT ON `schemaless`.*'], shards: 'SELECT' },
  tail: { control: ['SELECT ON `schemaless`.*', 'UPDATE ON `schemaless`.shard'], shards: 'SELECT' },
  // To lock rows one has to be allowed to update them.
  write: { control: ['SELECT, INSERT, UPDATE, DELETE ON `schemaless`.*'], shards: 'SELECT, INSERT, UPDATE, DELETE' },
  repair: {
    control: ['SELECT, INSERT, UPDATE, DELETE ON `schemaless`.*'],
    shards: 'SELECT, INSERT, UPDATE, DELETE, DROP',
  },
  // A table that is renamed is altered and dropped where it was, and created and filled where it goes.
  move: {
    control: ['SELECT ON `schemaless`.*', 'SELECT, INSERT, UPDATE, DELETE ON `schemaless`.shard'],
    shards: 'SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER',
  },
  // Cells and entries stay where they are, emptied; buffered copies of what is erased are deleted.
  erase: { control: ['SELECT, INSERT, UPDATE, DELETE ON `schemaless`.*'], shards: 'SELECT, INSERT, UPDATE' },
};

/** How a user proves who it is: by a token of IAM, or by a password, under one of its two names. */
export type UserLogin = 'token' | { readonly username: string; readonly password: string };

/**
 * Makes the users of the functions on a group's servers, each with the rights that it needs on the datastores given.
 * Can be repeated; a password that was changed is taken over. A user with a password is made under both of its names,
 * see `otherName`; one that is there under the other name keeps its password there. `datastores`: names; their
 * databases need not be there yet. Throws Error naming a user whose password or name is of another shape, never the
 * password.
 */
export async function createUsers(
  client: SqlClient,
  logins: Readonly<Partial<Record<MadeUser, UserLogin>>>,
  datastores: readonly string[],
): Promise<void> {
  for (const [user, login] of Object.entries(logins) as [MadeUser, UserLogin][]) {
    const { control, shards } = GRANTS[user];
    const name = userName(user);
    if (login !== 'token' && login.username !== name && login.username !== otherName(name))
      throw new Error(`the name of ${name}: wanted it or ${otherName(name)}, got ${login.username}`);
    const rights = [...control, ...datastores.map((datastore) => `${shards} ON ${databasesOf(datastore)}.*`)];
    for (const [account, statements] of login === 'token' ? [accountByToken(name)] : accountsByPassword(name, login))
      for (const sql of [...statements, ...rights.map((right) => `GRANT ${right} TO ${account}`)])
        await client.change({ sql, parameters: [] });
  }
}

type MadeAccount = readonly [account: string, statements: readonly string[]];

/** Aurora asks IAM whether a token holds. */
function accountByToken(name: string): MadeAccount {
  const account = accountOf(name);
  const by = "IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS'";
  return [account, [`CREATE USER IF NOT EXISTS ${account} ${by}`, `ALTER USER ${account} ${by}`]];
}

function accountsByPassword(name: string, { username, password }: Exclude<UserLogin, 'token'>): readonly MadeAccount[] {
  return [name, otherName(name)].map((one) => {
    const [create, alter] = passwordStatements(one, password);
    return [accountOf(one), one === username ? [create, alter] : [create]];
  });
}

/** Letters and digits alone, since neither `CREATE USER` nor `ALTER USER` takes a bound value. */
const PASSWORD = /^[A-Za-z0-9]{20,128}$/u;

/**
 * Statements that make an account if it is not there, and that give it a password. `password`: 20 to 128 letters and
 * digits. Throws Error naming the account whose password is of another shape, never the password.
 */
export function passwordStatements(name: string, password: string): readonly [create: string, alter: string] {
  if (!PASSWORD.test(password))
    throw new Error(`the password of ${name}: wanted 20 to 128 letters and digits, got ${password.length} characters`);
  const by = `${accountOf(name)} IDENTIFIED BY '${password}'`;
  return [`CREATE USER IF NOT EXISTS ${by}`, `ALTER USER ${by}`];
}

function accountOf(name: string): string {
  return `'${name}'@'%'`;
}

/** The databases of a datastore's shards, as a pattern: in those of `GRANT` an underscore stands for any character. */
function databasesOf(datastore: string): string {
  return `\`${`${datastore}_`.replaceAll('_', '\\_')}%\``;
}

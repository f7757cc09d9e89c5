import type { SqlClient } from '../sql/client.ts';
import { otherName, userName, type MadeUser } from '../topology/database-users.ts';

/** The rights of each user in the control database, and in those of the shards. */
const GRANTS: Readonly<Record<MadeUser, { readonly control: readonly string[]; readonly shards: string }>> = {
  read: { control: ['SELECT ON `schemaless`.*'], shards: 'SELECT' },
  tail: { control: ['SELECT ON `schemaless`.*', 'UPDATE ON `schemaless`.shard'], shards: 'SELECT' },
  // A row lock needs the right to update.
  write: { control: ['SELECT, INSERT, UPDATE, DELETE ON `schemaless`.*'], shards: 'SELECT, INSERT, UPDATE, DELETE' },
  repair: {
    control: ['SELECT, INSERT, UPDATE, DELETE ON `schemaless`.*'],
    shards: 'SELECT, INSERT, UPDATE, DELETE, DROP',
  },
  // A rename needs ALTER and DROP for the old name, and CREATE and INSERT for the new one.
  move: {
    control: ['SELECT ON `schemaless`.*', 'SELECT, INSERT, UPDATE, DELETE ON `schemaless`.shard'],
    shards: 'SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER',
  },
  // An erasure empties cells and entries, and deletes hints.
  erase: { control: ['SELECT, INSERT, UPDATE, DELETE ON `schemaless`.*'], shards: 'SELECT, INSERT, UPDATE' },
};

/** A user's credentials: an IAM token, or a password under one of its two names. */
export type UserLogin = 'token' | { readonly username: string; readonly password: string };

/**
 * Creates the functions' users on a group's servers, each with the rights that it needs on the given datastores.
 * Repeatable; applies a changed password. Creates a user with a password under both of its names, see `otherName`; an
 * account under the other name keeps its password. `datastores`: names, whose databases need not exist yet. Throws an
 * Error that names the user, never the password, if a name or password has another shape.
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

/** Returns an account whose tokens Aurora checks with IAM. */
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

/** Letters and digits only, since neither `CREATE USER` nor `ALTER USER` accepts a bound value. */
const PASSWORD = /^[A-Za-z0-9]{20,128}$/u;

/**
 * Returns statements that create an account if it is missing, and that set its password. `password`: 20 to 128 letters
 * and digits. Throws an Error that names the account, never the password, if it has another shape.
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

/** Returns a pattern of the databases of a datastore's shards. `GRANT` reads a plain underscore as any character. */
function databasesOf(datastore: string): string {
  return `\`${`${datastore}_`.replaceAll('_', '\\_')}%\``;
}

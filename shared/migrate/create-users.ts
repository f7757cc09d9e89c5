import type { SqlClient } from '../sql/client.ts';
import { userName, type MadeUser } from '../topology/database-users.ts';

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

/** Letters and digits alone, since neither `CREATE USER` nor `ALTER USER` takes a bound value. */
const PASSWORD = /^[A-Za-z0-9]{20,128}$/u;

/**
 * Makes the users of the functions on a group's servers, each with the password given and the rights that it needs, on
 * the datastores given. Can be repeated; a password that was changed is taken over.
 *
 * @param passwords by user: 20 to 128 letters and digits; one that has none, as where the group was deployed before there
 *   was such a user, is not made
 * @param datastores names; their databases need not be there yet
 * @throws Error naming a user whose password is of another shape, never the password
 */
export async function createUsers(
  client: SqlClient,
  passwords: Readonly<Partial<Record<MadeUser, string>>>,
  datastores: readonly string[],
): Promise<void> {
  for (const [user, { control, shards }] of Object.entries(GRANTS) as [MadeUser, (typeof GRANTS)[MadeUser]][]) {
    const password = passwords[user];
    if (password === undefined) continue;
    if (!PASSWORD.test(password))
      throw new Error(
        `the password of ${userName(user)}: wanted 20 to 128 letters and digits, got ${password.length} characters`,
      );
    const account = `'${userName(user)}'@'%'`;
    const statements = [
      `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${password}'`,
      `ALTER USER ${account} IDENTIFIED BY '${password}'`,
      ...[...control, ...datastores.map((name) => `${shards} ON ${databasesOf(name)}.*`)].map(
        (right) => `GRANT ${right} TO ${account}`,
      ),
    ];
    for (const sql of statements) await client.change({ sql, parameters: [] });
  }
}

/** The databases of a datastore's shards, as a pattern: in those of `GRANT` an underscore stands for any character. */
function databasesOf(datastore: string): string {
  return `\`${`${datastore}_`.replaceAll('_', '\\_')}%\``;
}

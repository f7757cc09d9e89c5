/**
 * The users of the groups' servers. Each function logs in as one that has only the rights that the function needs.
 *
 * - `owner`: created with the cluster, for the migration; creates databases, tables and the other users.
 * - `read`: reads.
 * - `tail`: reads, and raises the epoch of a shard whose log was cut.
 * - `write`: appends cells, writes hints, maintains index entries; creates and drops nothing.
 * - `repair`: as `write`, and drops the tables of retired indexes.
 * - `move`: as `write` in the databases of shards, whose copies it creates and drops; closes and opens shards.
 * - `erase`: empties bodies of cells and values of entries, and deletes hints; deletes no row of a shard.
 */
export const DATABASE_USERS = ['owner', 'read', 'tail', 'write', 'repair', 'move', 'erase'] as const;
export type DatabaseUser = (typeof DATABASE_USERS)[number];

/** The users that the migration creates. */
export const MADE_USERS = [
  'read',
  'tail',
  'write',
  'repair',
  'move',
  'erase',
] as const satisfies readonly DatabaseUser[];
export type MadeUser = (typeof MADE_USERS)[number];

export function ofMadeUsers<Some>(of: (user: MadeUser) => Some): Readonly<Record<MadeUser, Some>> {
  return Object.fromEntries(MADE_USERS.map((user) => [user, of(user)])) as Record<MadeUser, Some>;
}

/** Returns the name of a user on the servers. */
export function userName(user: DatabaseUser): string {
  return user === 'owner' ? 'schemaless' : `schemaless_${user}`;
}

/** The end of a user's other name. */
const OTHER = '_other';

/** Returns the other of a user's two names. One is in use; the other gets the next password, so both log in. */
export function otherName(name: string): string {
  return name.endsWith(OTHER) ? name.slice(0, -OTHER.length) : `${name}${OTHER}`;
}

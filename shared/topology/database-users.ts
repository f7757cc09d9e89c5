/**
 * Who logs in to the groups' servers: each function as a user that may do no more than the function has to.
 *
 * - `owner`: made with the cluster; creates databases, tables and the other users. The migration's.
 * - `read`: reads.
 * - `tail`: reads, and raises the epoch of a shard whose log was cut.
 * - `write`: appends cells, buffers them, keeps index entries; creates and drops nothing.
 * - `repair`: as `write`, and drops the tables of indexes that are not wished any more.
 * - `move`: as `write` in the databases of shards, of which it makes and drops copies; closes and opens shards.
 * - `erase`: empties bodies of cells and what entries hold of them, and deletes buffered copies; no row of a shard.
 */
export const DATABASE_USERS = ['owner', 'read', 'tail', 'write', 'repair', 'move', 'erase'] as const;
export type DatabaseUser = (typeof DATABASE_USERS)[number];

/** Those that the migration makes. */
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

/** What a user is called on the servers. */
export function userName(user: DatabaseUser): string {
  return user === 'owner' ? 'schemaless' : `schemaless_${user}`;
}

/** Of the name that a user has besides. */
const OTHER = '_other';

/** Returns the other of a user's two names. One is in use; the other gets the next password, so both log in. */
export function otherName(name: string): string {
  return name.endsWith(OTHER) ? name.slice(0, -OTHER.length) : `${name}${OTHER}`;
}

import { change } from '../../../support/plain-sql.ts';
import type { OpenTrips } from '../../../support/open-trips.ts';

export const ANOTHER_SERVER = 4_294_000_000;

/** As after the promotion of a reader in the primary's place: the log of another server is known to be whole. */
export async function promote({ clientOf, name }: OpenTrips): Promise<void> {
  await change(
    clientOf(0),
    'UPDATE schemaless.shard SET writer_id = ?, head_epoch = NULL WHERE datastore = ?',
    ANOTHER_SERVER,
    name,
  );
}

/** As once the former writer is back, or all was brought to the new one. */
export async function recordWriter({ clientOf, name }: OpenTrips): Promise<void> {
  await change(clientOf(0), 'UPDATE schemaless.shard SET writer_id = @@server_id WHERE datastore = ?', name);
}

import { rowKeyBytes } from '../../../../shared/address.ts';
import type { NewCell } from '../../../../shared/cell.ts';
import { insertBuffered } from '../../../../shared/sql/statements/insert-buffered.ts';
import { RESTORED } from '../../../../shared/sql/statements/record-writer.ts';
import { copyOf } from '../../../support/copy-of.ts';
import { change } from '../../../support/plain-sql.ts';
import type { OpenTrips } from '../../../support/open-trips.ts';

export const ANOTHER_SERVER = 4_294_000_000;

const recorded = 'UPDATE schemaless.shard SET writer_id = ?, head_epoch = NULL WHERE datastore = ?';

/** As after the promotion of a reader in the primary's place, which never had these cells of shard 0. */
export async function promote(opened: OpenTrips, without: readonly NewCell[] = []): Promise<void> {
  await lose(opened, without);
  await change(opened.clientOf(0), recorded, ANOTHER_SERVER, opened.name);
}

/** As after the primary was restored to a point in time before these cells of shard 0. */
export async function restored(opened: OpenTrips, before: readonly NewCell[] = []): Promise<void> {
  await lose(opened, before);
  await change(opened.clientOf(0), recorded, RESTORED, opened.name);
}

async function lose({ clientOf, entity }: OpenTrips, cells: readonly NewCell[]): Promise<void> {
  for (const { row_key } of cells)
    await change(clientOf(0), `DELETE FROM ${entity(0)} WHERE row_key = ?`, rowKeyBytes(row_key));
}

/** As once the former writer is back, or all was brought to the new one. */
export async function recordWriter({ clientOf, name }: OpenTrips): Promise<void> {
  await change(clientOf(0), 'UPDATE schemaless.shard SET writer_id = @@server_id WHERE datastore = ?', name);
}

/** Copies of cells in the buffer of a group, as of writers that were answered nothing yet. */
export async function buffer({ store, name }: OpenTrips, group = '', ...cells: readonly NewCell[]): Promise<void> {
  for (const cell of cells) await store.client(group).change(insertBuffered(name, [copyOf(cell)]));
}

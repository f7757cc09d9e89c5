import type { PhysicalIndex } from '../index-table.ts';
import { SqlError, type SqlClient } from '../../sql/client.ts';
import { deleteTombstones } from '../statements/delete-tombstones.ts';
import { requireDatastore, shardsByGroup } from '../../access/groups.ts';
import type { DueTimes } from './due-times.ts';
import type { RepairWork } from './repair-work.ts';

/** Deleted with one statement: locks are held for milliseconds. */
const ROWS_A_STATEMENT = 200;
const PURGE_EVERY_MS = 3_600_000;

/**
 * Deletes old tombstones of a datastore if due, from where the run before left off. A table that refuses costs itself
 * alone.
 */
export async function purgeTombstones(work: RepairWork, due: DueTimes, signal: AbortSignal): Promise<void> {
  if (!(await due.isDue('purge'))) return;
  const { context, datastore, settings } = work;
  const topology = await requireDatastore(context.topology, datastore);
  const indexes = await work.indexes.maintained(datastore);
  const places = new Map(await due.places('purge'));
  const failures: unknown[] = [];
  let tombstones = 0;

  async function purge(client: SqlClient, shard: number, index: PhysicalIndex): Promise<void> {
    for (let deleted = ROWS_A_STATEMENT; deleted === ROWS_A_STATEMENT && !signal.aborted; tombstones += deleted) {
      deleted = (
        await client.change(
          deleteTombstones(datastore, shard, index, { ageMs: settings.tombstoneAgeMs, limit: ROWS_A_STATEMENT }),
        )
      ).affectedRows;
    }
  }

  await Promise.all(
    [...shardsByGroup(topology)].map(async ([group, shards]) => {
      try {
        const client = await context.groups.client(group);
        for (const shard of shards.toSorted((one, other) => one - other)) {
          if (shard < (places.get(group) ?? 0)) continue;
          places.set(group, shard);
          for (const index of indexes) {
            if (signal.aborted) return;
            await purge(client, shard, index).catch((error: unknown) => {
              failures.push(error);
              // A group that is down refuses all its tables.
              if (!(error instanceof SqlError) || error.failure === 'unreachable') throw error;
            });
          }
        }
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  if (tombstones > 0) work.report({ datastore, kind: 'purged', tombstones });
  if (signal.aborted) return due.saveOffsets('purge', places);
  await due.doneFor('purge', PURGE_EVERY_MS);
  if (failures.length > 0) throw failures[0];
}

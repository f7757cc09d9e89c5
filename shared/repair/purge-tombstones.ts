import { deleteTombstones } from '../sql/statements/delete-tombstones.ts';
import { byGroup } from '../store/context.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { DueTimes } from './due-times.ts';
import type { RepairWork } from './repair-work.ts';

/** Deleted with one statement: locks are held for milliseconds. */
const ROWS_A_STATEMENT = 200;

/** Deletes old tombstones from all index tables of a datastore where it is time to, a few at a time, group beside group. */
export async function purgeTombstones(work: RepairWork, due: DueTimes, signal: AbortSignal): Promise<void> {
  if (!(await due.isDue('purge'))) return;
  const { context, datastore, settings } = work;
  const topology = await requireDatastore(context.topology, datastore);
  const indexes = await work.indexes.maintained(datastore);
  let tombstones = 0;
  const ends = await Promise.allSettled(
    [...byGroup(topology, topology.places.map((_, shard) => ({ shard })))].map(async ([group, shards]) => {
      const client = await context.groups.client(group);
      for (const { shard } of shards) {
        for (const index of indexes) {
          for (let deleted = ROWS_A_STATEMENT; deleted === ROWS_A_STATEMENT && !signal.aborted; tombstones += deleted) {
            deleted = (await client.change(deleteTombstones(datastore, shard, index, { ageMs: settings.tombstoneAgeMs, limit: ROWS_A_STATEMENT }))).affectedRows;
          }
        }
      }
    }),
  );
  // Where a group failed or the run ends, the others have been done: the rest waits for the next time.
  await due.doneFor('purge', settings.purgeEveryMs);
  if (tombstones > 0) work.report({ datastore, kind: 'purged', tombstones });
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

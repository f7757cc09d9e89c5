import { forgetFollower } from '../../follow/rewind-follower.ts';
import type { Leases } from '../../dynamo/lease.ts';
import { underLease } from '../../dynamo/under-lease.ts';
import { sideBySide } from '../../side-by-side.ts';
import { forgetIndexVersion } from '../../topology/index-catalogue.ts';
import { copyDatabase, shardDatabase } from '../../address.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import { dropIndexTable, type PhysicalIndex } from '../index-table.ts';
import { forgetMistyped } from '../../topology/index-now.ts';
import { buildName } from './build-follower.ts';
import type { RepairWork } from './repair-work.ts';

/** Drops versions retired long enough ago, under the lease of the migration, which creates their tables. */
export async function dropRetired(
  work: RepairWork,
  leases: Leases,
  renewMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { datastore, settings } = work;
  const isDue = (retiredAt: string | undefined): boolean =>
    retiredAt !== undefined && Date.now() - Date.parse(retiredAt) >= settings.retiredForMs;
  const catalogues = await work.indexes.catalogues(datastore);
  const due = catalogues.flatMap(({ name, versions }) =>
    versions
      .filter(({ state, retired_at }) => state === 'retired' && isDue(retired_at))
      .map(({ hash, definition }) => ({ name, hash, definition })),
  );
  if (due.length === 0) return;
  await underLease({ leases, name: 'migrate', renewMs, signal, isExclusive: true }, (held) =>
    dropVersions(work, due, held),
  );
}

async function dropVersions(work: RepairWork, due: readonly PhysicalIndex[], signal: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  for (const version of due) {
    try {
      if (!(await dropTables(work, version, signal))) return;
      await forget(work, version);
    } catch (error) {
      // A table that cannot be dropped keeps only its own version listed.
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function forget(work: RepairWork, { name, hash, definition }: PhysicalIndex): Promise<void> {
  const { datastore, stateTable, topologyTable } = work;
  await forgetFollower(stateTable, { name: buildName({ name, hash }), datastore });
  await forgetMistyped(topologyTable, { datastore, name }, hash, definition.fields.length);
  if (await forgetIndexVersion(topologyTable, { datastore, name }, hash))
    work.report({ datastore, kind: 'dropped', index: name, hash });
}

/** Drops them in shards and in copies, wherever they are now: a copy's table would come back with a switch. */
async function dropTables(
  { context, datastore, topologyTable }: RepairWork,
  version: PhysicalIndex,
  signal: AbortSignal,
): Promise<boolean> {
  const { homes = [] } = (await readDatastore(topologyTable, datastore)) ?? {};
  const places = homes.flatMap(({ group, copy }, shard) => [
    { group, database: shardDatabase(datastore, shard) },
    ...(copy ? [{ group: copy.group, database: copyDatabase(datastore, shard) }] : []),
  ]);
  const failures: unknown[] = [];
  await Promise.all(
    [...Map.groupBy(places, ({ group }) => group)].map(async ([group, ofGroup]) => {
      const client = await context.groups.client(group);
      await sideBySide(ofGroup, async ({ database }) => {
        if (!signal.aborted)
          await client.change(dropIndexTable(database, version)).catch((error: unknown) => void failures.push(error));
      });
    }),
  );
  if (failures.length > 0) throw failures[0];
  return !signal.aborted;
}

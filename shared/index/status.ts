import type { IndexStatus } from '../api/indexes.ts';
import { indexTableName } from './index-table.ts';
import type { IndexNow } from '../topology/index-now.ts';
import { listedIndex, unknownIndex, type IndexesAsked } from './query.ts';

/** Returns the status of all indexes at this moment. Throws `unavailable`. */
export async function indexStatuses({ topology, datastore, polls }: IndexesAsked): Promise<readonly IndexStatus[]> {
  await topology.renew();
  const catalogues = await topology.indexes(datastore);
  const statuses = await Promise.all(catalogues.map(async ({ name }) => statusOf(name, await polls(name))));
  return statuses.filter((status) => status !== undefined);
}

/** Returns an index's status at this moment. Throws `unknown_index`, `unavailable`. */
export async function indexStatus(asked: IndexesAsked, name: string): Promise<IndexStatus> {
  await listedIndex(asked, name);
  const status = statusOf(name, await asked.polls(name));
  if (!status) throw await unknownIndex(asked.topology, asked.datastore, name);
  return status;
}

function statusOf(name: string, { versions, progress, mistyped }: IndexNow): IndexStatus | undefined {
  const live = versions.find(({ state }) => state === 'live');
  const building = versions.findLast(({ state }) => state === 'building');
  const shown = live ?? building;
  if (!shown) return undefined;
  const { fields, keys } = shown.definition;
  return {
    index: name,
    table: indexTableName(name, shown.hash),
    state: building ? (live ? 'changing' : 'building') : 'live',
    fields: fields.map(({ field, type, column_key }) => ({ field, type, column_key })),
    keys,
    progress: (building && progress?.builds[building.hash]) ?? null,
    lag: progress?.lag ?? null,
    largest_share: progress?.largest_share ?? null,
    mistyped: mistyped.flatMap(({ hash, position, rows, row_key, at }) =>
      hash === shown.hash && fields[position] ? [{ field: fields[position].field, rows, row_key, at }] : [],
    ),
  };
}

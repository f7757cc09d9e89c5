import type { StoreContext } from '../access/context.ts';
import { selectExistingEntries, toExistingEntries, type ExistingEntry } from './statements/select-existing-entries.ts';
import { selectDivided } from '../sql/select-divided.ts';
import { requireDatastore, homeOf } from '../access/groups.ts';
import type { DatastoreTopology } from '../topology/topology.ts';
import type { Version } from './entry.ts';
import { keyOfValue } from '../definitions/field-value.ts';
import { slicesOf } from '../slices-of.ts';
import type { EntryOfShard } from './wanted-entries.ts';
import type { MissedEntries } from './write-entries.ts';

export interface Difference {
  readonly wanted: EntryOfShard;
  readonly held: ExistingEntry | undefined;
}

interface Differences {
  readonly differences: readonly Difference[];
  /** Entries that could not be compared: a refused table stands alone. */
  readonly unasked: readonly MissedEntries[];
}

/** A row may have ten thousand former values. */
const ENTRIES_A_STATEMENT = 1000;

/** Compares wanted entries with the tables. One of a higher version is right: its writer has seen more. */
export async function differencesOf(
  context: StoreContext,
  datastore: string,
  wanted: readonly EntryOfShard[],
): Promise<Differences> {
  if (wanted.length === 0) return { differences: [], unasked: [] };
  const topology = await requireDatastore(context.topology, datastore);
  const ofIndexes = [
    ...Map.groupBy(
      wanted,
      ({ index, shard }) => `${homeOf(topology, shard).group}/${index.name}/${index.hash}`,
    ).values(),
  ];
  const answers = await Promise.all(
    ofIndexes.map(async (ofIndex) => {
      const found: Differences[] = [];
      for (const some of slicesOf(ofIndex, ENTRIES_A_STATEMENT))
        found.push(await compare(context, datastore, topology, some));
      return found;
    }),
  );
  const all = answers.flat();
  return { differences: all.flatMap(({ differences }) => differences), unasked: all.flatMap(({ unasked }) => unasked) };
}

async function compare(
  context: StoreContext,
  datastore: string,
  topology: DatastoreTopology,
  entries: readonly EntryOfShard[],
): Promise<Differences> {
  const [first] = entries;
  if (!first) return { differences: [], unasked: [] };
  const { index } = first;
  const { group } = homeOf(topology, first.shard);
  const tables = [
    ...Map.groupBy(
      entries.map((entry, item) => ({ entry, item })),
      ({ entry }) => entry.shard,
    ).values(),
  ];
  const parts = tables.map((ofTable) =>
    selectExistingEntries(
      datastore,
      index,
      ofTable.map(({ entry: { shard, row }, item }) => ({
        item,
        shard,
        value: row.values[0] ?? null,
        row_key: row.row_key,
      })),
    ),
  );
  try {
    const { rows, refused } = await selectDivided(await context.groups.client(group), parts, 'writer');
    const held = toExistingEntries(rows, index, entries.length);
    const asked = tables.filter((_, part) => !refused.has(part)).flat();
    return {
      differences: asked.flatMap(({ entry, item }): Difference[] =>
        isRight(entry, held[item]) ? [] : [{ wanted: entry, held: held[item] }],
      ),
      unasked: [...refused].map(([part, error]) => ({
        group,
        entries: (tables[part] ?? []).map(({ entry }) => entry),
        error,
      })),
    };
  } catch (error) {
    return { differences: [], unasked: [{ group, entries, error }] };
  }
}

function isRight({ row }: EntryOfShard, held: ExistingEntry | undefined): boolean {
  if (!held) return false;
  const order = compareVersions(held.version, row.version);
  if (order !== 0) return order > 0;
  if (row.tombstone || held.tombstone) return row.tombstone === held.tombstone;
  return held.values.every((value, position) => keyOfValue(value) === keyOfValue(row.values[position] ?? null));
}

export function compareVersions(a: Version, b: Version): number {
  return a.epoch - b.epoch || a.added_id - b.added_id;
}

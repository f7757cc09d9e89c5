import { groupBy, placeOf, type StoreContext } from '../store/context.ts';
import { selectExistingEntries, toExistingEntries, type ExistingEntry } from '../sql/statements/select-existing-entries.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { Version } from './entry.ts';
import { keyOfValue } from './field-value.ts';
import type { PlacedEntry } from './maintain.ts';

/** An entry that is not as it should be. `held` is what is there, undefined where nothing is. */
export interface Difference {
  readonly wanted: PlacedEntry;
  readonly held: ExistingEntry | undefined;
}

export interface Differences {
  readonly differences: readonly Difference[];
  /** Groups that could not be asked, with the entries that belong there. */
  readonly unasked: readonly { readonly group: string; readonly entries: readonly PlacedEntry[]; readonly error: unknown }[];
}

/**
 * Compares what indexes should hold with what they hold: one statement for each index and group. An entry of a higher
 * version than the wanted one was written by somebody who has seen more, and is right.
 */
export async function differencesOf(context: StoreContext, datastore: string, wanted: readonly PlacedEntry[]): Promise<Differences> {
  if (wanted.length === 0) return { differences: [], unasked: [] };
  const topology = await requireDatastore(context.topology, datastore);
  const parts = groupBy(wanted, ({ index, shard }) => `${placeOf(topology, shard).group}/${index.name}/${index.hash}`);
  const answers = await Promise.all(
    [...parts.values()].map(async (entries) => {
      const [{ index, shard }] = entries as [PlacedEntry];
      const { group } = placeOf(topology, shard);
      try {
        const client = await context.groups.client(group);
        const keys = entries.map((entry) => ({ shard: entry.shard, value: entry.row.values[0] ?? null, row_key: entry.row.row_key }));
        const held = toExistingEntries(await client.select(selectExistingEntries(datastore, index, keys), 'writer'), index, entries.length);
        return { differences: entries.flatMap((entry, place): Difference[] => (isRight(entry, held[place]) ? [] : [{ wanted: entry, held: held[place] }])) };
      } catch (error) {
        return { unasked: { group, entries, error } };
      }
    }),
  );
  return { differences: answers.flatMap(({ differences = [] }) => differences), unasked: answers.flatMap(({ unasked }) => unasked ?? []) };
}

function isRight({ row }: PlacedEntry, held: ExistingEntry | undefined): boolean {
  if (!held) return false;
  const order = compareVersions(held.version, row.version);
  if (order !== 0) return order > 0;
  if (row.tombstone || held.tombstone) return row.tombstone === held.tombstone;
  return held.values.every((value, place) => keyOfValue(value) === keyOfValue(row.values[place] ?? null));
}

export function compareVersions(a: Version, b: Version): number {
  return a.epoch - b.epoch || a.added_id - b.added_id;
}

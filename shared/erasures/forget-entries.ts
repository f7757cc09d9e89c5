import { requireDatastore, homeOf } from '../access/groups.ts';
import type { StoreContext } from '../access/context.ts';
import { decodeBody } from '../body/codec.ts';
import type { Json } from '../cell.ts';
import { keyOfValue, readField, shardOfValue, type FieldValue } from '../definitions/field-value.ts';
import type { IndexField } from '../definitions/definitions.ts';
import { covers, type ErasureTarget } from '../erasure-name.ts';
import { maintainedIndexes, type PhysicalIndex } from '../index/index-table.ts';
import { DEPTH, wantedEntries, writeEntries, type EntryOfShard, type MissedEntries } from '../index/maintain.ts';
import { byItem } from '../sql/cell-rows.ts';
import type { SqlClient } from '../sql/client.ts';
import { selectShard, toShardRow } from '../sql/statements/select-shard.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import type { BodyToErase } from '../sql/statements/select-bodies.ts';

/** What is forgotten in the indexes of one datastore. */
export interface Forgetting {
  readonly context: StoreContext;
  readonly datastore: string;
  readonly target: ErasureTarget;
  readonly shard: number;
  /** Of the erasure: what was computed of the row before it loses against what is written now. */
  readonly added_id: number;
}

/** Entries that could not be written, and why. */
export class EntriesMissed extends Error {
  constructor([missed]: readonly MissedEntries[]) {
    super(`those on ${missed?.group || 'a group'} could not be written`, { cause: missed?.error });
  }
}

/** The entries of a row, before and after its bodies go. */
export interface EntriesOfRow {
  /**
   * Where bodies of a page say that entries are. Throws `EntriesMissed` where not all could be taken away: the bodies have to
   * stay then, since nothing else says where the entries are.
   */
  takeAway(page: readonly BodyToErase[]): Promise<void>;
  /** What the row's entries are without them. Throws `EntriesMissed`. */
  bringBack(): Promise<void>;
}

/**
 * Puts tombstones where entries of a row are, or may be written yet by who has read it before: they say nothing but the
 * value of the shard field, and are purged when nobody is left who could. The entry that the row keeps is not touched
 * before it is known how it looks then.
 */
export async function entriesOfRow(forgetting: Forgetting): Promise<EntriesOfRow> {
  const { context, datastore, target, shard, added_id } = forgetting;
  const topology = await requireDatastore(context.topology, datastore);
  const { group, epoch: known } = homeOf(topology, shard);
  const client = await context.groups.client(group);
  // The row's own: entries have that, and what is cached may be behind it.
  const row = toShardRow(await client.select(selectShard(datastore, shard), 'writer'));
  const epoch = Math.max(known, row?.epoch ?? 0);
  const indexes = await maintainedIndexes(context.topology, datastore);
  const kept = await keptValues(client, forgetting, indexes);
  const write = async (entries: readonly EntryOfShard[]): Promise<void> => {
    const missed = await writeEntries(context, datastore, entries);
    if (missed.length > 0) throw new EntriesMissed(missed);
  };

  return {
    async takeAway(page) {
      const entries: EntryOfShard[] = [];
      for (const [position, index] of indexes.entries()) {
        const [field] = index.definition.fields;
        if (!field) continue;
        const values = new Map<string, Exclude<FieldValue, null>>();
        for (const { column_name, body } of page)
          if (column_name === field.column_key) addValue(values, field, decoded(body));
        const own = kept[position];
        if (own !== undefined) values.delete(own);
        for (const value of values.values())
          entries.push({
            index,
            shard: shardOfValue(value, field.type, topology.shards),
            row: {
              row_key: target.row_key,
              values: [value],
              tombstone: true,
              version: { epoch, added_id },
            },
          });
      }
      await write(entries);
    },
    async bringBack() {
      const rows = [{ row_key: target.row_key, shard }];
      const { entries, unread } = await wantedEntries(context, { datastore, indexes, depth: DEPTH.recent }, rows);
      if (unread[0]) throw new EntriesMissed([{ group, entries: [], error: unread[0].error }]);
      const newer = entries.map((entry): EntryOfShard => {
        const { version } = entry.row;
        return {
          ...entry,
          row: { ...entry.row, version: { ...version, added_id: Math.max(version.added_id, added_id) } },
        };
      });
      await write(newer);
    },
  };
}

function addValue(
  values: Map<string, Exclude<FieldValue, null>>,
  { field, type }: IndexField,
  body: Json | undefined,
): void {
  const value = readField(body, field, type) ?? null;
  if (value !== null) values.set(keyOfValue(value), value);
}

/** Of each index, the shard field's value that the row keeps: where the latest cell of its column is not erased. */
async function keptValues(
  client: SqlClient,
  { datastore, target, shard }: Forgetting,
  indexes: readonly PhysicalIndex[],
): Promise<readonly (string | undefined)[]> {
  if (indexes.length === 0) return [];
  const keys = indexes.map(({ definition: { fields } }) => ({
    shard,
    key: { row_key: target.row_key, column_name: fields[0]?.column_key ?? '' },
  }));
  const rows = await client.select(selectCells(datastore, keys, false), 'writer');
  return byItem(rows, keys.length).map(({ cells: [latest] }, position) => {
    const field = indexes[position]?.definition.fields[0];
    if (!latest || latest.body === null || !field || covers(target, latest)) return undefined;
    const value = readField(decoded(latest.body), field.field, field.type) ?? null;
    return value === null ? undefined : keyOfValue(value);
  });
}

/** Undefined of a body that was damaged: no entry can have come of it. */
function decoded(body: Uint8Array): Json | undefined {
  try {
    return decodeBody(body);
  } catch {
    return undefined;
  }
}

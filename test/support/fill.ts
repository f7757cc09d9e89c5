import type { NewCell } from '../../shared/cell.ts';
import { encodeBody } from '../../shared/body/codec.ts';
import type { PhysicalIndex } from '../../shared/index/index-table.ts';
import { shardOf } from '../../shared/address.ts';
import { appendCells, type EncodedCell } from '../../shared/sql/statements/append-cells.ts';
import { putEntries, type IndexRow } from '../../shared/index/statements/put-entries.ts';
import type { SqlClient, Statement } from '../../shared/sql/client.ts';
import { homeOf } from '../../shared/access/groups.ts';
import type { DatastoreTopology } from '../../shared/topology/topology.ts';
import { inChunks, inParallel } from './parallel.ts';
import { groupClient, PATIENT, type GroupAccess } from './store-access.ts';
import { shardOfValue, readField } from '../../shared/definitions/field-value.ts';

interface Fill {
  readonly groups: readonly GroupAccess[];
  readonly topology: DatastoreTopology;
  /** Entries are written for them. */
  readonly indexes: readonly PhysicalIndex[];
  /** No address twice. */
  readonly cells: Iterable<NewCell>;
  readonly signal: AbortSignal;
}

/** Sorted by shard together: enough of them for large statements. */
const PAGE = 50_000;
const BATCH = 200;
const AT_ONCE = 6;

interface EntryOfShard {
  readonly shard: number;
  readonly index: PhysicalIndex;
  readonly row: IndexRow;
}

/**
 * Puts cells and their index entries into a datastore that nobody writes to, by the store's own statements in large
 * batches. What it skips are the buffer copies and the look at what each row had before.
 */
export async function fill({ groups, topology, indexes, cells, signal }: Fill): Promise<void> {
  const { datastore, shards } = topology;
  const clients = new Map(groups.map(({ name }) => [name, groupClient(groups, name, PATIENT)]));
  const change = (shard: number, statement: Statement): ReturnType<SqlClient['change']> => {
    const client = clients.get(homeOf(topology, shard).group);
    if (!client) throw new Error(`shard ${shard} is on a group that is not among those to be filled`);
    return client.change(statement);
  };

  async function append(shard: number, ofShard: readonly NewCell[]): Promise<readonly EntryOfShard[]> {
    const { epoch } = homeOf(topology, shard);
    const entries: EntryOfShard[] = [];
    for (const batch of inChunks(ofShard, BATCH)) {
      const encoded = batch.map((cell): EncodedCell => ({ ...cell, encoded: encodeBody(cell.body) }));
      const { affectedRows, insertId } = await change(shard, appendCells({ datastore, shard, epoch }, encoded));
      if (affectedRows !== batch.length)
        throw new Error(`wanted ${batch.length} cells appended to shard ${shard}, got ${affectedRows}`);
      for (const [position, cell] of batch.entries())
        entries.push(...entriesOf(cell, { epoch, added_id: insertId - batch.length + 1 + position }, indexes, shards));
    }
    return entries;
  }

  try {
    for (const page of inChunks(cells, PAGE)) {
      const entries: EntryOfShard[] = [];
      await inParallel(
        Map.groupBy(page, ({ row_key }) => shardOf(row_key, shards)),
        AT_ONCE,
        signal,
        async ([shard, ofShard]) => {
          entries.push(...(await append(shard, ofShard)));
        },
      );
      for (const index of indexes) {
        const ofIndex = entries.filter((entry) => entry.index === index);
        await inParallel(
          Map.groupBy(ofIndex, ({ shard }) => shard),
          AT_ONCE,
          signal,
          async ([shard, ofShard]) => {
            for (const batch of inChunks(ofShard, BATCH)) {
              const rows = batch.map(({ row }) => row);
              await change(shard, putEntries(datastore, shard, index, rows));
            }
          },
        );
      }
    }
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
}

/** What the indexes know of a row that has this cell alone. */
function entriesOf(
  { row_key, column_name, body }: NewCell,
  version: IndexRow['version'],
  indexes: readonly PhysicalIndex[],
  shards: number,
): readonly EntryOfShard[] {
  return indexes.flatMap((index) => {
    const { fields } = index.definition;
    const [shardField] = fields;
    const values = fields.map(({ field, type, column_key }) =>
      column_key === column_name ? (readField(body, field, type) ?? null) : null,
    );
    const [value] = values;
    if (!shardField || value === null || value === undefined) return [];
    return [
      {
        shard: shardOfValue(value, shardField.type, shards),
        index,
        row: { row_key, values, tombstone: false, version },
      },
    ];
  });
}

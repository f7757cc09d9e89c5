import type { NewCell } from '../../shared/cell.ts';
import { encodeBody } from '../../shared/body/codec.ts';
import { shardOf } from '../../shared/address.ts';
import { appendCells } from '../../shared/sql/statements/append-cells.ts';
import { homeOf } from '../../shared/access/groups.ts';
import type { DatastoreTopology } from '../../shared/topology/topology.ts';
import { inChunks, inParallel } from './parallel.ts';
import { groupClient, PATIENT, type GroupAccess } from './store-access.ts';

interface Fill {
  readonly groups: readonly GroupAccess[];
  readonly topology: DatastoreTopology;
  /** No address twice. */
  readonly cells: Iterable<NewCell>;
  readonly signal: AbortSignal;
}

/** Cells that are sorted by shard at once: enough for large statements. */
const PAGE = 50_000;
const BATCH = 200;
const AT_ONCE = 6;

/**
 * Appends cells to a datastore without indexes and other writers, by the store's own statement in large batches. Makes
 * no hints.
 */
export async function fill({ groups, topology, cells, signal }: Fill): Promise<void> {
  const { datastore, shards } = topology;
  const clients = new Map(groups.map(({ name }) => [name, groupClient(groups, name, PATIENT)]));
  const append = async (shard: number, ofShard: readonly NewCell[]): Promise<void> => {
    const { epoch, group } = homeOf(topology, shard);
    const client = clients.get(group);
    if (!client) throw new Error(`shard ${shard} is on a group that is not among those to be filled`);
    for (const batch of inChunks(ofShard, BATCH)) {
      const encoded = batch.map((cell) => ({ ...cell, encoded: encodeBody(cell.body) }));
      const { affectedRows } = await client.change(appendCells({ datastore, shard, epoch }, encoded));
      if (affectedRows !== batch.length)
        throw new Error(`wanted ${batch.length} cells appended to shard ${shard}, got ${affectedRows}`);
    }
  };
  try {
    for (const page of inChunks(cells, PAGE)) {
      const byShard = Map.groupBy(page, ({ row_key }) => shardOf(row_key, shards));
      await inParallel(byShard, AT_ONCE, signal, ([shard, ofShard]) => append(shard, ofShard));
    }
  } finally {
    await Promise.all([...clients.values()].map((client) => client.close()));
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { encodeBody } from '../../../shared/body/codec.ts';
import { shardOf } from '../../../shared/address.ts';
import { appendCells, type EncodedCell } from '../../../shared/sql/statements/append-cells.ts';
import { homeOf, requireDatastore } from '../../../shared/access/groups.ts';
import { inChunks, inParallel } from '../../support/parallel.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { DATASTORE, type OpenStore } from '../../support/store-access.ts';

export interface Fill {
  /** Of rows of their own, drawn from the seed. */
  readonly cells: number;
  readonly seed: string;
  readonly signal: AbortSignal;
}

const CELLS_A_STATEMENT = 100;
const SHARDS_AT_ONCE = 12;
const POLL_MS = 200;
const PATIENCE_MS = 60_000;

/** Appends cells by the store's statements, and returns once the readers have them, too. */
export async function fillLogs(
  { context, datastore }: Pick<OpenStore, 'context' | 'datastore'>,
  { cells, seed, signal }: Fill,
): Promise<void> {
  const topology = await requireDatastore(context.topology, DATASTORE);
  const random = new Random(seed, 'rows of a backlog', 0);
  const body = { written_by: 'bench' };
  const encoded = encodeBody(body);
  const all = Array.from({ length: cells }, (): EncodedCell => ({
    row_key: randomRowKey(random),
    column_name: 'BASE',
    ref_key: 1,
    body,
    encoded,
  }));
  const byShard = Map.groupBy(all, ({ row_key }) => shardOf(row_key, topology.shards));
  await inParallel(byShard, SHARDS_AT_ONCE, signal, async ([shard, ofShard]) => {
    const { group, epoch } = homeOf(topology, shard);
    const client = await context.groups.client(group);
    for (const some of inChunks(ofShard, CELLS_A_STATEMENT)) {
      const { affectedRows } = await client.change(appendCells({ datastore: DATASTORE, shard, epoch }, some));
      if (affectedRows !== some.length) throw new Error(`${affectedRows} of ${some.length} cells were appended`);
    }
  });
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const heads = await datastore.heads({ read: 'reader' });
    if (heads.reduce((sum, head) => sum + (head.error ? 0 : head.head), 0) === cells) return;
    if (performance.now() > deadline)
      throw new Error(`the readers did not have all cells within ${PATIENCE_MS / 1000} s`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

import type { Role } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import type { StoreContext } from '../access/context.ts';
import { byGroup, requireDatastore } from '../access/groups.ts';
import { inPages } from './log-pages.ts';
import { pauseFor } from '../pause-for.ts';
import { askAllParts, partsOf } from '../access/ask-parts.ts';
import type { ShardOffset } from './encode-offsets.ts';
import type { Follower } from './follower.ts';
import { giveCells } from './give-cells.ts';
import { offsetAt, readLogEntries } from './read-log-entries.ts';
import { startOffsets } from './start-offsets.ts';

export interface FollowOnceOptions {
  readonly follower: Follower;
  readonly context: StoreContext;
  readonly read: Role;
  /** @default every shard */
  readonly shards?: readonly number[];
  /** Of each shard at a time. @default 500 */
  readonly pageCells?: number;
  /** Told after each page: cells read so far, and cells there were when it began. */
  readonly progress?: (done: number, all: number) => void;
}

/** Between looks at a log that does not show yet what its writer has. */
const RETRY_PAUSE_MS = 10;
/** A log that shows nothing new for so long will not. */
const PATIENCE_MS = 10_000;

interface OpenShard {
  readonly shard: number;
  readonly start: number;
  readonly head: number;
  offset: ShardOffset;
}

/**
 * Follows every log from the follower's start to where it ended when this was called, without leases and offsets: for
 * commands and tests. Groups go side by side.
 *
 * @throws SchemalessError `unavailable` when a group cannot be read, a log was cut meanwhile, or nothing is done with
 *   cells for ten seconds; and what the handler throws
 */
export async function followOnce(options: FollowOnceOptions): Promise<void> {
  const { follower, context, progress } = options;
  const topology = await requireDatastore(context.topology, follower.datastore);
  const wanted = options.shards ?? topology.homes.map((_, shard) => shard);
  const groups = byGroup(
    topology,
    wanted.map((shard) => ({ shard })),
  );
  const open = await Promise.all(
    [...groups].map(async ([group, items]) => ({
      group,
      shards: await openShards(
        options,
        group,
        items.map(({ shard }) => shard),
      ),
    })),
  );
  const all = open.flatMap(({ shards }) => shards).reduce((sum, { start, head }) => sum + Math.max(0, head - start), 0);
  let done = 0;
  const count = (cells: number): void => {
    done += cells;
    progress?.(Math.min(done, all), all);
  };
  await Promise.all(
    open.map(async ({ group, shards }) => {
      for (const page of inPages(shards)) await followToHead(options, group, page, count);
    }),
  );
}

async function openShards(
  { context, follower }: FollowOnceOptions,
  group: string,
  shards: readonly number[],
): Promise<OpenShard[]> {
  const client = await context.groups.client(group);
  const heads = toHeads(
    (await askAllParts(client, group, 'writer', partsOf(selectHeads(follower.datastore, shards)))).rows,
  );
  const starts = await startOffsets(context, group, follower.datastore, shards, follower.start);
  return shards.flatMap((shard) => {
    const offset = starts.get(shard);
    return offset ? [{ shard, offset, start: offset.added_id, head: heads.get(shard) ?? 0 }] : [];
  });
}

async function followToHead(
  { follower, context, read, pageCells: limit = 500 }: FollowOnceOptions,
  group: string,
  shards: readonly OpenShard[],
  count: (cells: number) => void,
): Promise<void> {
  let lastMove = performance.now();
  for (;;) {
    const behind = shards.filter(({ offset, head }) => offset.added_id < head);
    if (behind.length === 0) return;
    const { role, logs } = await readLogEntries(context, group, { datastore: follower.datastore, limit, read }, behind);
    const refused = logs.find(({ state }) => state === 'refused');
    if (refused) throw refused.refusal?.error;
    const cut = behind.find((_, item) => logs[item]?.state !== 'whole' && role === 'writer');
    if (cut)
      throw new SchemalessError(
        'unavailable',
        `the log of shard ${cut.shard} of ${follower.datastore} was cut at ${cut.offset.added_id} while it was read`,
      );
    const done = await giveCells(
      follower,
      group,
      behind.map(({ shard }, item) => ({ shard, generation: 0, entries: logs[item]?.entries ?? [] })),
    );
    for (const [item, shard] of behind.entries()) {
      const last = logs[item]?.entries[(done[item]?.count ?? 0) - 1];
      if (last) shard.offset = offsetAt(last, 0);
    }
    const moved = done.reduce((sum, { count }) => sum + count, 0);
    if (moved > 0) {
      lastMove = performance.now();
      count(moved);
    } else if (performance.now() - lastMove >= PATIENCE_MS) {
      throw new SchemalessError(
        'unavailable',
        `the logs of ${behind.length} shards of ${follower.datastore} did not move for ${PATIENCE_MS / 1000} s`,
      );
    } else await pauseFor(RETRY_PAUSE_MS, new AbortController().signal);
  }
}

import { readPlaces } from '../follow/read-places.ts';
import { unread } from '../follow/start-offsets.ts';
import { SHARDS_A_PAGE } from '../follow/follow-group.ts';
import { byGroup } from '../store/context.ts';
import { requireDatastore } from '../topology/groups.ts';
import type { PendingMarks, PendingShard } from './pending-marks.ts';
import type { RepairWork } from './repair-work.ts';
import { repairRows } from './repair-rows.ts';

/** Of each shard at a time. */
const PAGE_CELLS = 100;

/**
 * Gives groups that were away the entries that they lack: reads the logs of the shards marked again from the mark to
 * their ends, and then takes the marks away. Ends early where the group fails again; the marks say how far it came.
 */
export async function catchUp(work: RepairWork, pending: PendingMarks, signal: AbortSignal): Promise<void> {
  const groups = await work.context.groups.names();
  await Promise.all(groups.filter((group) => !work.away.has(group)).map((group) => catchUpGroup(work, pending, group, signal)));
}

async function catchUpGroup(work: RepairWork, pending: PendingMarks, group: string, signal: AbortSignal): Promise<void> {
  const marked = await pending.read(group);
  if (marked.length === 0) return;
  const topology = await requireDatastore(work.context.topology, work.datastore);
  const done = await Promise.all(
    [...byGroup(topology, marked)].map(async ([rowGroup, shards]) => {
      let count = 0;
      for (let start = 0; start < shards.length && !signal.aborted; start += SHARDS_A_PAGE) count += await catchUpShards(work, pending, { group, rowGroup, shards: shards.slice(start, start + SHARDS_A_PAGE) }, signal);
      return count;
    }),
  );
  const shards = done.reduce((sum, count) => sum + count, 0);
  if (shards > 0) work.report({ datastore: work.datastore, kind: 'caught_up', group, shards });
}

interface MarkedShards {
  readonly group: string;
  /** Holds the shards whose logs are read. */
  readonly rowGroup: string;
  readonly shards: readonly PendingShard[];
}

/** Returns how many shards came to their end. */
async function catchUpShards(work: RepairWork, pending: PendingMarks, { group, rowGroup, shards }: MarkedShards, signal: AbortSignal): Promise<number> {
  const { context, datastore } = work;
  let open = shards;
  let done = 0;
  while (open.length > 0 && !signal.aborted) {
    const from = open.map((mark) => ({ mark, shard: mark.shard, offset: unread(mark.from - 1) }));
    // From the writer, to the very end: what comes later gets a mark of its own if it is missed.
    const { logs } = await readPlaces(context, rowGroup, { datastore, limit: PAGE_CELLS, behindMs: 0, read: 'writer', fingerprints: false }, from);
    const rows = logs.flatMap(({ places }, item) => places.map(({ row_key }) => ({ row_key, shard: from[item]?.shard ?? 0 })));
    const { missed } = await repairRows(work, await work.indexes.maintained(datastore), rows, group);
    if (missed.has(group)) return done;
    const next: PendingShard[] = [];
    for (const [item, { places, full, hole }] of logs.entries()) {
      const mark = from[item]?.mark;
      if (!mark) continue;
      const to = (places.at(-1)?.added_id ?? mark.from - 1) + 1;
      const ended = !full && hole === undefined;
      if (ended && (await pending.clear(group, mark))) done += 1;
      else if ((await pending.advance(group, mark, to)) && full) next.push({ ...mark, from: to });
    }
    open = next;
  }
  return done;
}

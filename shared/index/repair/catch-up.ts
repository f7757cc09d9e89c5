import { readLogEntries } from '../../follow/read-log-entries.ts';
import { unread } from '../../follow/start-offsets.ts';
import { SHARDS_A_PAGE } from '../../follow/log-pages.ts';
import { byGroup, requireDatastore } from '../../access/groups.ts';
import type { PendingMarks, PendingShard } from './pending-marks.ts';
import type { RepairWork } from './repair-work.ts';
import { repairRows } from './repair-rows.ts';
import { slicesOf } from '../../slices-of.ts';

const PAGE_CELLS = 100;

/** Marks are read this much less often while there are none. */
const IDLE_POLLS = 3;
/** Growing rests of a group that answers, but cannot take some entries. */
const REST_MS = { first: 1000, most: 60_000 };

/**
 * Writes the entries that unavailable groups missed: reads the marked shards' logs from their marks to their ends, then
 * clears the marks. A shard whose log, rows or entries fail keeps its mark alone. Returns a poll, to be repeated.
 */
export function watchPending(
  work: RepairWork,
  pending: PendingMarks,
  signal: AbortSignal,
): () => Promise<number | void> {
  const rests = new Map<string, { readonly ms: number; readonly until: number }>();

  async function poll(group: string, marked: readonly PendingShard[]): Promise<void> {
    if (work.unavailable.has(group)) return void rests.delete(group);
    const rest = rests.get(group);
    if (rest && performance.now() < rest.until) return;
    const isStuck = await catchUpGroup(work, pending, { group, marked }, signal);
    const ms = Math.min(rest ? 2 * rest.ms : REST_MS.first, REST_MS.most);
    if (isStuck) rests.set(group, { ms, until: performance.now() + ms });
    else rests.delete(group);
  }

  return async () => {
    const { shards } = await requireDatastore(work.context.topology, work.datastore);
    const marked = await pending.read(await work.context.groups.names(), shards);
    if (marked.length === 0) return IDLE_POLLS * work.settings.pollMs;
    const ofGroups = Map.groupBy(marked, ({ group }) => group);
    const ends = await Promise.allSettled([...ofGroups].map(([group, some]) => poll(group, some)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    return undefined;
  };
}

async function catchUpGroup(
  work: RepairWork,
  pending: PendingMarks,
  { group, marked }: { readonly group: string; readonly marked: readonly PendingShard[] },
  signal: AbortSignal,
): Promise<boolean> {
  const topology = await requireDatastore(work.context.topology, work.datastore);
  const pages = [...byGroup(topology, marked)].map(async ([rowGroup, shards]) => {
    const done = { ended: 0, stuck: 0 };
    for (const some of slicesOf(shards, SHARDS_A_PAGE))
      await catchUpShards(work, { pending, group, rowGroup, shards: some, done }, signal);
    return done;
  });
  const ends = await Promise.allSettled(pages);
  const done = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  const shards = done.reduce((sum, { ended }) => sum + ended, 0);
  if (shards > 0) work.report({ datastore: work.datastore, kind: 'caught_up', group, shards });
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return done.some(({ stuck }) => stuck > 0);
}

interface MarkedShards {
  readonly pending: PendingMarks;
  readonly group: string;
  readonly rowGroup: string;
  readonly shards: readonly PendingShard[];
  /** Shards at their ends, and shards that cannot go on for now. */
  readonly done: { ended: number; stuck: number };
}

async function catchUpShards(work: RepairWork, marked: MarkedShards, signal: AbortSignal): Promise<void> {
  const { group, pending, done } = marked;
  for (let open = marked.shards; open.length > 0 && !signal.aborted;) {
    const from = open.map((mark) => ({ mark, shard: mark.shard, offset: unread(mark.from - 1) }));
    // From the writer, to the very end: later misses set marks of their own.
    const { logs } = await readLogEntries(
      work.context,
      marked.rowGroup,
      { datastore: work.datastore, limit: PAGE_CELLS, read: 'writer', fingerprints: false },
      from,
    );
    const rows = logs.flatMap(({ entries }, item) =>
      entries.map(({ row_key }) => ({ row_key, shard: from[item]?.shard ?? 0 })),
    );
    const { missed, unread: waiting } = await repairRows(
      work,
      await work.indexes.maintained(work.datastore),
      rows,
      group,
    );
    const lacking = new Set([...missed.values()].flatMap((rows) => [...rows]));
    const next: PendingShard[] = [];
    for (const [item, { state, entries, full, hole }] of logs.entries()) {
      const mark = from[item]?.mark;
      if (!mark) continue;
      if (state === 'refused' || waiting.has(mark.shard) || entries.some(({ row_key }) => lacking.has(row_key))) {
        done.stuck += 1;
        continue;
      }
      const to = (entries.at(-1)?.added_id ?? mark.from - 1) + 1;
      const ended = !full && hole === undefined;
      if (ended && (await pending.clear(group, mark))) done.ended += 1;
      else if ((await pending.advance(group, mark, to)) && full) next.push({ ...mark, from: to });
    }
    if (work.unavailable.has(group)) return;
    open = next;
  }
}

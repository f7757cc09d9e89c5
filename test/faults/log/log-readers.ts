/** A thread of log readers: each tails all shards from the start, and keeps what it saw. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '../../../shared/cell.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';
import { openLogSource, type LogAccess, type LogSource } from './log-source.ts';

export interface LogReaders {
  readonly log: LogAccess;
  readonly shards: number;
  /** A reader for each, which asks this role. */
  readonly roles: readonly Role[];
}

/** Told once the writers have ended: how far each shard's log goes. */
export interface LogEnds {
  readonly heads: readonly number[];
  readonly patienceMs: number;
}

/** What one reader saw, shard by shard, in the order in which it saw it. */
export interface SeenLog {
  readonly role: Role;
  readonly shards: readonly {
    readonly ids: readonly number[];
    readonly marks: readonly number[];
    readonly timesBack: number;
  }[];
  /** Log reads by who answered them. */
  readonly reads: Readonly<Record<Role, number>>;
  /** Reads that nobody answered. */
  readonly failures: number;
  readonly holesMet: number;
  readonly longestHoleMs: number;
  readonly reachedEnd: boolean;
}

/** Long enough for writers to get in between, short enough to be at the end of the log where commits race. */
const IDLE_MS = 2;

await runAsWorker<LogReaders, LogEnds, never, readonly SeenLog[]>(async ({ log, shards, roles }, control) => {
  const sources = await Promise.all(roles.map(async (role) => ({ role, source: await openLogSource(log, role) })));
  control.ready();
  const seen = await Promise.all(sources.map(({ role, source }) => tail(source, role, shards, () => control.stopped)));
  await Promise.all(sources.map(({ source }) => source[Symbol.asyncDispose]()));
  return seen;
});

async function tail(source: LogSource, role: Role, shards: number, ends: () => LogEnds | undefined): Promise<SeenLog> {
  const nothing = () => ({ ids: [] as number[], marks: [] as number[], timesBack: 0, lastTime: '' });
  const seen = Array.from({ length: shards }, nothing);
  const reads: Record<Role, number> = { writer: 0, reader: 0 };
  let after: readonly number[] = seen.map(() => 0);
  let [failures, deadline, reachedEnd] = [0, Number.POSITIVE_INFINITY, false];
  while (!reachedEnd && performance.now() < deadline) {
    const page = await source.next(after).catch(() => undefined);
    failures += page?.failures ?? 1;
    if (page) reads[page.role] += 1;
    for (const { shard, added_id, mark, created_at } of page?.cells ?? []) {
      const log = seen[shard];
      if (!log) throw new Error(`a cell of shard ${shard}, which was not asked for`);
      log.ids.push(added_id);
      log.marks.push(mark);
      if (created_at < log.lastTime) log.timesBack += 1;
      log.lastTime = created_at;
    }
    after = page?.after ?? after;
    const end = ends();
    if (end && deadline === Number.POSITIVE_INFINITY) deadline = performance.now() + end.patienceMs;
    reachedEnd = end?.heads.every((head, shard) => (after[shard] ?? 0) >= head) ?? false;
    if (!page || page.cells.length === 0) await sleep(IDLE_MS);
  }
  const { met: holesMet, longestMs: longestHoleMs } = source.holes;
  return { role, shards: seen, reads, failures, holesMet, longestHoleMs, reachedEnd };
}

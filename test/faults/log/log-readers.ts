import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '../../../shared/cell.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { groupClient, openStore, type StoreAccess } from '../../support/store-access.ts';
import { runAsWorker } from '../../support/workers/worker-side.ts';
import { PLAIN, type PlainAccess } from '../load/plain-tables.ts';
import { markOf } from '../stored-cells.ts';

/** The source of log readers: the store's logs or, for the control, plain tables with a reader that skips holes. */
export type LogAccess =
  | { readonly kind: 'store'; readonly access: StoreAccess }
  | { readonly kind: 'plain'; readonly access: PlainAccess };

interface LogSource extends AsyncDisposable {
  next(after: readonly number[]): Promise<LogPage>;
}

interface LogPage {
  readonly cells: readonly {
    readonly shard: number;
    readonly added_id: number;
    readonly mark: number;
    readonly created_at: string;
  }[];
  /** The added id after which each shard continues. */
  readonly after: readonly number[];
  readonly failures: number;
  readonly role: Role;
}

const LIMIT = 500;

async function openLogSource(log: LogAccess, read: Role): Promise<LogSource> {
  return log.kind === 'store' ? await storeLogs(log.access, read) : plainLogs(log.access, read);
}

async function storeLogs(access: StoreAccess, read: Role): Promise<LogSource> {
  const store = await openStore(access, { connections: 2 });
  return {
    async next(after) {
      const locations = after.map((id, shard) => ({ shard, after: id }));
      const logs = await store.datastore.log(locations, { limit: LIMIT, read });
      const cells = logs.flatMap((log) => (log.error ? [] : log.cells));
      return {
        cells: cells.map((cell) => ({ ...cell, mark: markOf(cell) })),
        after: logs.map((log, position) => (log.error ? (after[position] ?? 0) : log.next)),
        failures: logs.filter(({ error }) => error !== undefined).length,
        role: logs.every((log) => log.error === undefined && log.served_by === 'reader') ? 'reader' : 'writer',
      };
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** Reads ids alone: a reader that decodes bodies polls less often, and skips less. */
function plainLogs({ group }: PlainAccess, read: Role): LogSource {
  const client = groupClient([group], group.name, { connections: 2 });
  return {
    async next(after) {
      const selects = after.map(
        (_, shard) =>
          `(SELECT ${shard}, added_id FROM ${entityTable(PLAIN, shard)} WHERE added_id > ? ORDER BY added_id LIMIT ${LIMIT})`,
      );
      const rows = await client.select({ sql: selects.join(' UNION ALL '), parameters: after }, read);
      const nothing = { created_at: '', mark: 0 };
      const cells = rows.map(([shard, id]) => ({ shard: toNumber(shard), added_id: toNumber(id), ...nothing }));
      return {
        cells,
        after: after.map((id, shard) =>
          Math.max(id, ...cells.filter((cell) => cell.shard === shard).map(({ added_id }) => added_id)),
        ),
        failures: 0,
        role: read,
      };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** A thread of log readers: each tails all shards from the start, and records the cells it saw. */

export interface LogReaders {
  readonly log: LogAccess;
  readonly shards: number;
  readonly roles: readonly Role[];
}

/** Sent once the writers have ended: the end of each shard's log. */
export interface LogEnds {
  readonly heads: readonly number[];
  readonly patienceMs: number;
}

/** The cells that one reader saw, by shard, in order. */
export interface SeenLog {
  readonly role: Role;
  readonly shards: readonly {
    readonly ids: readonly number[];
    readonly marks: readonly number[];
    readonly timesBack: number;
  }[];
  /** Log reads by the role that answered. */
  readonly reads: Readonly<Record<Role, number>>;
  readonly failures: number;
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
  return { role, shards: seen, reads, failures, reachedEnd };
}

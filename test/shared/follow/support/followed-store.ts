import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, inject } from 'vitest';
import { decodeOffsets } from '../../../../shared/follow/offsets.ts';
import { committedOffsets, followerLag } from '../../../../shared/follow/follower-lag.ts';
import type { FollowerName } from '../../../../shared/follow/follower-item.ts';
import { OffsetItems } from '../../../../shared/follow/offset-items.ts';
import type { Follower, FollowEvent, LogEntry } from '../../../../shared/follow/follower.ts';
import { runFollower, type FollowerRun } from '../../../../shared/follow/run-follower.ts';
import { Workers, type WorkersOptions } from '../../../../shared/follow/workers.ts';
import type { SqlChange, SqlClient, SqlParameter } from '../../../../shared/sql/client.ts';
import type { StoreContext } from '../../../../shared/access/context.ts';
import type { DeployedTrigger } from '../../../../shared/topology/topology.ts';
import { cellOf } from '../../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../../support/dynamo.ts';
import { change } from '../../../support/plain-sql.ts';
import { openTrips } from '../../../support/open-trips.ts';
import { openGate, type Gate } from './gate.ts';
import { until } from '../../../support/until.ts';

export type FollowedStore = Awaited<ReturnType<typeof openFollowedStore>>;

export async function sharedFollowed(...given: Parameters<typeof openFollowedStore>): Promise<FollowedStore> {
  const followed = await openFollowedStore(...given);
  afterAll(() => followed.close());
  return followed;
}

export async function openFollowedStore(
  shards: number,
  wrap?: (client: SqlClient, group: string) => SqlClient,
  triggers: readonly DeployedTrigger[] = [],
) {
  const opened = await openTrips(shards, { triggers, bufferCopies: 0, ...(wrap && { wrap }) });
  const { store, trips, name: datastore, entity, clientOf, rowIn } = opened;
  const stateTable = await newTable(dynamoClient(inject('servers').dynamo));
  const rows = Array.from({ length: shards }, (_, shard) => rowIn(shard));
  let ref_key = 0;
  const idOf = ({ name }: Pick<Deeds, 'name'>): FollowerName => ({ name, datastore });
  /** Plain SQL to the shard's group, in which `ENTITY` is the shard's table of cells. */
  const changeShard = (shard: number, text: string, ...parameters: readonly SqlParameter[]): Promise<SqlChange> =>
    change(clientOf(shard), text.replace('ENTITY', entity(shard)), ...parameters);
  const logOf = async (shard: number, after: number) => {
    const [log] = await trips.log([{ shard, after }], { limit: 1000 });
    if (!log || log.error) throw new Error(`no log of ${shard}`);
    return log;
  };
  /** Every cell that is in the logs: `shard/added id/row key/ref key`. */
  const stored = async (): Promise<string[]> => {
    const found: string[] = [];
    for (let shard = 0; shard < shards; shard += 1) {
      for (let log = await logOf(shard, 0); log.cells.length > 0; log = await logOf(shard, log.next))
        found.push(...log.cells.map((cell) => nameOf({ ...cell, shard })));
    }
    return found;
  };
  const offsets = (deeds: Pick<Deeds, 'name'>): Promise<(number | undefined)[]> =>
    committedOffsets(stateTable, idOf(deeds), shards);
  return {
    store,
    datastore,
    trips,
    shards,
    stateTable,
    clientOf,
    idOf,
    offsets,
    stored,
    change: changeShard,
    async write(shard: number, cells: number, column_name = 'BASE'): Promise<void> {
      for (let rest = cells; rest > 0; rest -= 100) {
        const results = await trips.batchPut(
          Array.from({ length: Math.min(rest, 100) }, () =>
            cellOf({ row_key: rows[shard] ?? '', column_name, ref_key: (ref_key += 1), body: 1 }),
          ),
        );
        const failed = results.find(({ outcome }) => outcome !== 'stored');
        if (failed) throw new Error(JSON.stringify(failed));
      }
    },
    async cutAfter(shard: number, addedId: number): Promise<void> {
      await changeShard(shard, 'DELETE FROM ENTITY WHERE added_id > ?', addedId);
      const forgetEnd = 'UPDATE schemaless.shard SET head_epoch = NULL WHERE datastore = ? AND shard = ?';
      await changeShard(shard, forgetEnd, datastore, shard);
    },
    headOf: async (shard: number): Promise<number> => (await logOf(shard, 0)).next,
    lag: (deeds: Pick<Deeds, 'name'>) => followerLag(stateTable, store.context, idOf(deeds)),
    items: (deeds: Pick<Deeds, 'name'>) => new OffsetItems(stateTable, { ...idOf(deeds), shards, partitions: shards }),
    begun: (deeds: Pick<Deeds, 'name'>): Promise<void> =>
      until('it has begun everywhere', async () => (await offsets(deeds)).every((offset) => offset !== undefined)),
    caughtUp: (deeds: Deeds): Promise<void> =>
      until('everything is handled', async () => (await stored()).every((cell) => deeds.names().has(cell))),
    async close(): Promise<void> {
      stateTable.client.destroy();
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** Writes to the shards in turn, by some writers side by side; ends with how many cells there are then. */
export function startWriting({ shards, write, stored }: FollowedStore, writers = 1): () => Promise<number> {
  const over = new AbortController();
  const done = Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let turn = writer; !over.signal.aborted; turn += writers) {
        // On a busy machine a write may be refused; what is in the logs counts.
        await write(turn % shards, 1 + (turn % 3)).catch(() => undefined);
        // Clock: it leaves the workers their turn.
        await sleep(20);
      }
    }),
  );
  return async () => {
    over.abort();
    await done;
    return (await stored()).length;
  };
}

/** Cells whose first delivery came after that of a later cell of their shard. */
export function orderBreaks(given: readonly Pick<LogEntry, 'shard' | 'added_id'>[]): number {
  const highest = new Map<number, number>();
  const seen = new Set<string>();
  let breaks = 0;
  for (const { shard, added_id } of given) {
    const last = highest.get(shard) ?? 0;
    if (!seen.has(`${shard}/${added_id}`) && added_id < last) breaks += 1;
    seen.add(`${shard}/${added_id}`);
    highest.set(shard, Math.max(last, added_id));
  }
  return breaks;
}

export function doneWith(cells: readonly Pick<LogEntry, 'shard' | 'added_id'>[]): Map<number, number> {
  return new Map(cells.map(({ shard, added_id }) => [shard, added_id]));
}

const nameOf = ({
  shard,
  added_id,
  row_key,
  ref_key,
}: Pick<LogEntry, 'shard' | 'added_id' | 'row_key' | 'ref_key'>): string =>
  `${shard}/${added_id}/${row_key}/${ref_key}`;

export function movedClock() {
  let byMs = 0;
  return {
    // Clock: a worker's own time, of which tests assert only what they moved it by.
    now: () => performance.now() + byMs,
    pass: (milliseconds: number): void => void (byMs += milliseconds),
  };
}

export type Deeds = ReturnType<typeof newDeeds>;

export function newDeeds() {
  const handled: (LogEntry & { readonly owner: string })[] = [];
  const commits: { readonly key: string; readonly offsets: readonly (number | undefined)[] }[] = [];
  const events: FollowEvent[] = [];
  return {
    name: `test-${randomUUID().slice(0, 8)}`,
    handled,
    commits,
    events,
    names: () => new Set(handled.map(nameOf)),
    idsOf: (shard: number, by?: string): number[] =>
      handled
        .filter((cell) => cell.shard === shard && (by === undefined || cell.owner === by))
        .map(({ added_id }) => added_id),
    eventsOf: <Kind extends FollowEvent['kind']>(kind: Kind) =>
      events.filter((event): event is Extract<FollowEvent, { kind: Kind }> => event.kind === kind),
    backwards(): number {
      const last = new Map<string, number>();
      let back = 0;
      for (const { key, offsets } of commits) {
        for (const [position, offset = 0] of offsets.entries()) {
          if (offset < (last.get(`${key}/${position}`) ?? 0)) back += 1;
          last.set(`${key}/${position}`, offset);
        }
      }
      return back;
    },
  };
}

/** Starts a worker of a follower of its own. */
export function follow(followed: FollowedStore, run?: Parameters<typeof startWorker>[2]) {
  const deeds = newDeeds();
  return { deeds, worker: startWorker(followed, deeds, run) };
}

export function startWorker(
  followed: FollowedStore,
  deeds: Deeds,
  run: Partial<Omit<FollowerRun, 'follower'>> &
    Partial<Pick<WorkersOptions, 'owner' | 'slot'>> & {
      readonly heartbeat?: Pick<WorkersOptions, 'heartbeatMs' | 'silenceMs'>;
      readonly follower?: Partial<Follower>;
      /** Done with cells before they are handled. */
      readonly first?: (cells: readonly LogEntry[]) => unknown;
      readonly gate?: Gate;
      readonly wrap?: (client: SqlClient) => SqlClient;
    } = {},
): { readonly owner: string; readonly gate: Gate; readonly ended: Promise<void>; stop(): Promise<void> } {
  const {
    follower,
    first,
    gate = openGate((key, bytes) =>
      deeds.commits.push({
        key,
        offsets: decodeOffsets(bytes, Math.ceil(followed.shards / (run.partitions ?? followed.shards))).map(
          (offset) => offset?.added_id,
        ),
      }),
    ),
    wrap = (client) => client,
    owner = randomUUID(),
    slot = owner,
    heartbeat = { heartbeatMs: 100, silenceMs: 1000 },
    ...rest
  } = run;
  const { context } = followed.store;
  const wrapped = new WeakMap<SqlClient, SqlClient>();
  const clientOf = async (group: string): Promise<SqlClient> => {
    const client = await context.groups.client(group);
    const known = wrapped.get(client) ?? gate.sql(wrap(client));
    wrapped.set(client, known);
    return known;
  };
  const gated: StoreContext = { ...context, groups: { ...context.groups, client: clientOf } };
  const stopping = new AbortController();
  const stateTable = gate.table(followed.stateTable);
  const workerGroup = `${deeds.name}#${followed.datastore}`;
  const workers = new Workers({ ...heartbeat, stateTable, workerGroup, owner, slot, ...(run.now && { now: run.now }) });
  const ended = runFollower({
    context: gated,
    topologyTable: followed.store.topologyTable,
    stateTable,
    workers,
    deadline: Number.POSITIVE_INFINITY,
    signal: stopping.signal,
    read: 'reader',
    pageCells: 10,
    pauses: { leastMs: 5, mostMs: 50 },
    commitEveryMs: 50,
    report: (event) => void deeds.events.push(event),
    partitions: followed.shards,
    ...rest,
    follower: {
      name: deeds.name,
      datastore: followed.datastore,
      start: 'start',
      async handle(_group, cells) {
        await first?.(cells);
        deeds.handled.push(...cells.map((cell) => ({ ...cell, owner })));
        await gate.pass();
        return doneWith(cells);
      },
      ...follower,
    },
  }).finally(() => workers.leave().catch(() => undefined));
  return {
    owner,
    gate,
    ended,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

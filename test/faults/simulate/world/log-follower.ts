import { followShards, type FollowWork } from '../../../../shared/follow/follow-shards.ts';
import { HeldPartition } from '../../../../shared/follow/held-partition.ts';
import type { OffsetItem, OffsetItems } from '../../../../shared/follow/offset-items.ts';
import type { Checkpoint } from '../../../../shared/follow/offsets.ts';
import { HandleError } from '../../../../shared/follow/give-cells.ts';
import { fetchLogEntries } from '../../../../shared/follow/read-log-entries.ts';
import { SchemalessError } from '../../../../shared/errors.ts';
import { requireDatastore, homeOf } from '../../../../shared/access/groups.ts';
import { fromSqlTime } from '../../../../shared/time.ts';
import type { StoreContext } from '../../../../shared/access/context.ts';
import type { KeptCell } from '../servers/tables.ts';
import { addressKey } from './chronicle.ts';
import { DATASTORE } from '../servers/log-statements.ts';
import type { World } from './world.ts';

/** Follows every log as triggers and the repair do: with fingerprints, and from an earlier offset after a cut. */
export interface LogFollower {
  /** @returns whether it was given any cells */
  followOnce(): Promise<boolean>;
  /** Kills it, and restarts it at its committed offsets. */
  restart(): Promise<void>;
  /** Returns the cells that it should have been given, and was not. */
  missing(shard: number, log: readonly KeptCell[]): readonly KeptCell[];
  readonly cuts: () => number;
}

const PAGE = 6;
/** The delay of the repair of indexes. */
const REPAIR_BEHIND_MS = 3000;

/** @param start `now`: only cells that were appended after its first page are missed */
export async function logFollower(world: World, context: StoreContext, start: 'start' | 'now'): Promise<LogFollower> {
  const { random, time, shards, chronicle } = world;
  const seen = new Set<string>();
  /** When the first page of a shard was done. */
  const begun = new Map<number, number>();
  const items = memoryItems(shards);
  const keepsStarts = world.bug?.keepsStarts ?? true;
  let isCommitting = false;
  let cuts = 0;
  const itemsOfWorker: MemoryItems = keepsStarts
    ? items
    : { ...items, commit: async (...commit) => !isCommitting || items.commit(...commit) };
  let held = await take(itemsOfWorker, shards);

  const read = random.chance(0.5) ? 'reader' : 'writer';
  const work: FollowWork = {
    follower: {
      name: 'simulated',
      datastore: DATASTORE,
      start,
      async handle(_group, cells) {
        if (random.chance(0.05)) throw new Error('a handler that fails');
        for (const cell of cells) seen.add(`${cell.shard}/${cell.added_id}/${addressKey(cell)}/${cell.created_at}`);
        return new Map(cells.map(({ shard, added_id }) => [shard, added_id]));
      },
    },
    context,
    topologyTable: world.topology.table,
    readOf: () => read,
    behindMs: random.chance(0.3) ? REPAIR_BEHIND_MS : 0,
    pageCells: PAGE,
    fetch: fetchLogEntries,
    now: time.now,
    report(event) {
      if (event.kind === 'cut') cuts += 1;
    },
  };

  async function followGroup(group: string): Promise<void> {
    const partition = held;
    try {
      const topology = await requireDatastore(context.topology, DATASTORE);
      const page = partition.shards
        .filter(({ shard }) => homeOf(topology, shard).group === group)
        .map((shard) => ({ partition, held: shard, tenure: partition.tenure() }));
      if (page.length > 0) await followShards(work, group, page);
      for (const { held } of page) if (held.offset && !begun.has(held.shard)) begun.set(held.shard, time.now());
    } catch (error) {
      if (!(error instanceof SchemalessError) && !(error instanceof HandleError)) throw error;
    }
  }

  return {
    cuts: () => cuts,
    async followOnce() {
      const before = seen.size;
      await Promise.all([...world.groups.keys()].map(followGroup));
      if (random.chance(0.3)) {
        isCommitting = true;
        await held.commit();
        isCommitting = false;
        await held.saveCheckpoints();
      }
      return seen.size > before;
    },
    async restart() {
      held = await take(itemsOfWorker, shards);
    },
    missing(shard, log) {
      const since = start === 'now' ? (begun.get(shard) ?? Number.POSITIVE_INFINITY) : 0;
      return log.filter(
        (cell) =>
          !seen.has(`${shard}/${cell.added_id}/${cell.address}/${fromSqlTime(cell.createdText)}`) &&
          chronicle.appendedWhen(cell) >= since,
      );
    },
  };
}

type MemoryItems = Pick<OffsetItems, 'read' | 'take' | 'commit' | 'release' | 'readCheckpoints' | 'writeCheckpoints'>;

async function take(items: MemoryItems, shards: number): Promise<HeldPartition> {
  const taken = await items.take(0, 'simulated', []);
  if (!taken) throw new Error(`another worker holds the ${shards} shards`);
  return new HeldPartition(items, 0, taken, 1, await items.readCheckpoints(0));
}

/** The follower's items in DynamoDB: one partition with every shard. */
function memoryItems(shards: number): MemoryItems {
  const offsets = Array.from({ length: shards }, () => undefined);
  let item: OffsetItem = { owner: '', token: 0, generation: 0, offsets };
  let checkpoints: readonly (readonly Checkpoint[])[] = Array.from({ length: shards }, () => []);
  return {
    read: async () => item,
    async take(_partition, owner) {
      item = { ...item, owner, token: item.token + 1 };
      return item;
    },
    async commit(_partition, { token, generation }, reached, { next = false } = {}) {
      if (token !== item.token || generation !== item.generation) return false;
      item = { ...item, generation: generation + (next ? 1 : 0), offsets: reached };
      return true;
    },
    release: async () => undefined,
    readCheckpoints: async () => checkpoints.map((some) => [...some]),
    async writeCheckpoints(_partition, some) {
      checkpoints = some;
    },
  };
}

import { hash } from 'node:crypto';
import { shardsByGroup } from '../../access/groups.ts';
import type { RetainedDay } from '../../api/erasures.ts';
import type { RetentionRule } from '../../definitions/definitions.ts';
import { SchemalessError } from '../../errors.ts';
import { writerHeads } from '../../follow/follower-lag.ts';
import { sideBySide } from '../../side-by-side.ts';
import { readDatastore } from '../../topology/dynamo-topology.ts';
import type { DatastoreTopology } from '../../topology/topology.ts';
import type { ErasureWork } from '../erasure-work.ts';
import { addRetained, isRetained, setRetained, withMore } from './retained.ts';
import { retainShard, type ShardTurn } from './retain-shard.ts';
import {
  agedEveryMs,
  behindSeconds,
  keepTimes,
  WHOLE_MS,
  type RetentionSettings,
  readOffsets,
  writeOffset,
  type Reached,
  type RetentionOffset,
} from './retention-offset.ts';

interface RetentionRun extends ErasureWork {
  /** The token of its lease. */
  readonly token: number;
  readonly settings?: RetentionSettings;
  readonly failed?: (error: unknown) => void;
  /** Receives each round of each datastore with rules. */
  readonly retained?: (datastore: string, round: RetentionRound) => void;
  readonly signal: AbortSignal;
}

export interface RetentionRound {
  readonly erasures: number;
  readonly cells: number;
  readonly bytes: number;
  /** Erasures that are not done everywhere. */
  readonly open: number;
  readonly behindSeconds: number;
}

/** How long a shard works before others have their turn. */
const TURN_MS = 10_000;

/** Returns a repeatable round over all datastores with rules. It returns 0 if there is more to do at once. */
export function retentionRounds(run: RetentionRun): () => Promise<0 | void> {
  const { context, signal } = run;
  const known = new Map<string, Map<number, RetentionOffset>>();
  return async () => {
    let isMore = false;
    for (const datastore of await context.topology.served()) {
      if (signal.aborted) break;
      const { retention } = (await context.topology.datastore(datastore)) ?? {};
      // Erasures that former rules began are finished.
      const isWanted = retention ?? (await isRetained(run.stateTable, datastore));
      if (isWanted && (await roundOf(run, datastore, known))) isMore = true;
    }
    return isMore ? 0 : undefined;
  };
}

/** Returns whether there is more to do at once. */
async function roundOf(
  run: RetentionRun,
  datastore: string,
  known: Map<string, Map<number, RetentionOffset>>,
): Promise<boolean> {
  const { topologyTable, stateTable, settings = {}, signal } = run;
  const topology = await readDatastore(topologyTable, datastore);
  if (!topology) return false;
  if (!known.has(datastore)) await setRetained(stateTable, datastore, true);
  const places = known.get(datastore) ?? (await readOffsets(stateTable, datastore, topology.shards));
  known.set(datastore, places);
  const rules = rulesHash(topology.retention);
  const isAsRuled = rulesWatch(run, datastore, rules);
  const heads = await headsOf(run, topology);
  const work = dueShards(topology, { places, rules, heads, settings });
  /** By column. */
  const tally = new Map<string, RetainedDay>();
  let isCut = false;
  await sideBySide(work, async (shard) => {
    if (signal.aborted) return;
    const before = places.get(shard);
    const place = startingOffset(before, topology, shard, { rules, settings });
    const until = performance.now() + TURN_MS;
    const turn: ShardTurn = {
      work: run,
      at: { datastore, shard, rules: topology.retention },
      settings,
      isRestarted: place !== before,
      isAsRuled,
      mayGoOn: () => performance.now() < until && !signal.aborted,
      signal,
      async write(next) {
        if (!(await writeOffset(stateTable, { datastore, shard, token: run.token }, next)))
          throw new SchemalessError('unavailable', 'another worker has the lease of retention by now');
        places.set(shard, next);
      },
      done({ column, cells, bytes, waits_for }) {
        const now = new Date().toISOString();
        const more = { day: now.slice(0, 10), erasures: waits_for === null ? 1 : 0, cells, bytes, from: now, to: now };
        tally.set(column, withMore(tally.get(column), more));
      },
    };
    try {
      if (!(await isAsRuled(RULES_AGE_MS))) isCut = true;
      else if (await retainShard(turn, place)) isCut = true;
    } catch (error) {
      run.failed?.(error);
    }
  });
  for (const [column, day] of tally) await addRetained(stateTable, datastore, column, day);
  const open = [...places.values()].reduce((sum, place) => sum + place.open.length, 0);
  if (!topology.retention && open === 0) {
    known.delete(datastore);
    await setRetained(stateTable, datastore, false);
  }
  const sum = (of: 'erasures' | 'cells' | 'bytes'): number =>
    [...tally.values()].reduce((all, day) => all + day[of], 0);
  run.retained?.(datastore, {
    erasures: sum('erasures'),
    cells: sum('cells'),
    bytes: sum('bytes'),
    open,
    behindSeconds: behindSeconds(topology.retention ?? [], [...places.values()], settings) ?? 0,
  });
  return isCut;
}

/** The highest age of the known rules when a shard's turn begins. */
const RULES_AGE_MS = 1000;

/** Returns a check that the rules are still those of a round, past every cache, as of at most `maxAgeMs` ago. */
function rulesWatch(run: RetentionRun, datastore: string, rules: string): (maxAgeMs?: number) => Promise<boolean> {
  let readAt = Number.NEGATIVE_INFINITY;
  let isSame: Promise<boolean> | undefined;
  return (maxAgeMs = 0) => {
    if (isSame && performance.now() - readAt < maxAgeMs) return isSame;
    readAt = performance.now();
    isSame = (async () => {
      const now = await readDatastore(run.topologyTable, datastore);
      return now !== undefined && rulesHash(now.retention) === rules;
    })();
    return isSame;
  };
}

/** Returns the last added id of each log, without the logs of groups that do not answer. */
async function headsOf(run: RetentionRun, topology: DatastoreTopology): Promise<ReadonlyMap<number, number>> {
  const heads = new Map<number, number>();
  await Promise.all(
    [...shardsByGroup(topology)].map(async ([group, shards]) => {
      try {
        const client = await run.context.groups.client(group);
        for (const [shard, head] of await writerHeads(client, topology.datastore, shards)) heads.set(shard, head);
      } catch (error) {
        run.failed?.(error);
      }
    }),
  );
  return heads;
}

interface Due {
  readonly places: ReadonlyMap<number, RetentionOffset>;
  readonly rules: string;
  readonly heads: ReadonlyMap<number, number>;
  readonly settings: RetentionSettings;
}

function dueShards(topology: DatastoreTopology, { places, rules, heads, settings }: Due): number[] {
  const now = Date.now();
  const retention = topology.retention ?? [];
  const times = keepTimes(retention);
  const byVersions = retention.some(({ keepVersions }) => keepVersions !== undefined);
  return [...heads]
    .filter(([shard, head]) => {
      const place = places.get(shard);
      if (!topology.retention) return (place?.open.length ?? 0) > 0;
      if (place?.rules !== rules || place.epoch !== topology.homes[shard]?.epoch) return true;
      if (place.open.length > 0) return true;
      const isNew = byVersions && (head > place.often || now - place.all.at >= (settings.wholeMs ?? WHOLE_MS));
      return isNew || times.some((ms) => now - (place.aged[ms]?.at ?? 0) >= agedEveryMs(ms, settings));
    })
    .map(([shard]) => shard);
}

/** Returns the offset to continue from, which starts again under other rules, or if the log may be another one. */
function startingOffset(
  place: RetentionOffset | undefined,
  { retention = [], homes }: DatastoreTopology,
  shard: number,
  { rules, settings }: Pick<Due, 'rules' | 'settings'>,
): RetentionOffset {
  const epoch = homes[shard]?.epoch ?? 0;
  if (place?.rules === rules && place.epoch === epoch) return place;
  const due = (everyMs: number): Reached => ({ added_id: 0, at: Date.now() - everyMs });
  const aged = Object.fromEntries(keepTimes(retention).map((ms) => [ms, due(agedEveryMs(ms, settings))]));
  return { rules, epoch, often: 0, all: due(settings.wholeMs ?? WHOLE_MS), aged, open: place?.open ?? [] };
}

function rulesHash(rules: readonly RetentionRule[] | undefined): string {
  return hash('sha256', JSON.stringify([rules])).slice(0, 16);
}

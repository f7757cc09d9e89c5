import type { TriggerDefinition, TriggerStart } from '../../definitions/definitions.ts';
import type { StoreContext } from '../../access/context.ts';
import type { DatastoreTopology } from '../../topology/topology.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { cutOffRewinds, type ConsumedLocation } from './consumed-marks.ts';
import { committedLocations, readLags } from '../../follow/follower-lag.ts';
import type { TriggerStore } from './dynamo-trigger-store.ts';
import { triggerFollower } from './trigger-items.ts';
import { LATE_MS } from './queue-limits.ts';
import type { TriggerStatus, TroubledShard } from './trigger-store.ts';
import type { TriggerLag, TriggerShard } from '../../api/trigger-shapes.ts';

type ShardLag = Pick<TriggerShard, 'shard' | 'offset' | 'head' | 'cells' | 'seconds'>;

interface TriggerLags {
  /** Of what is not consumed, for each shard in order. */
  readonly shards: readonly (ShardLag & Pick<TriggerShard, 'consumed'>)[];
  readonly lag: TriggerLag;
  readonly sent: TriggerLag;
  /** See `takeBack` of `consumedMarks`. */
  readonly cutOff: ReadonlyMap<number, ConsumedLocation>;
}

interface LaggingTrigger {
  readonly context: StoreContext;
  readonly stateTable: DynamoTable;
  readonly topology: DatastoreTopology;
  readonly definition: Pick<TriggerDefinition, 'name' | 'start' | 'function'>;
  readonly store: Pick<TriggerStore, 'consumed' | 'status' | 'shards' | 'troubled'>;
}

/**
 * Returns the lag of consuming and sending. Marks are rare, so the queue's depth bounds the cells, and what consumers
 * say bounds the seconds. `waiting`: about how many messages are on its queue; undefined if unknown.
 */
export async function triggerLags(
  { context, stateTable, topology, definition, store }: LaggingTrigger,
  waiting: number | undefined,
): Promise<TriggerLags> {
  const follower = { name: triggerFollower(definition.name), datastore: topology.datastore };
  const [marks, status] = await Promise.all([store.consumed.read(topology.homes.keys().toArray()), store.status()]);
  const locations = await committedLocations(stateTable, follower, topology.shards);
  const offsets = locations.map((location) => location?.added_id);
  const sent = await shardLags(context, topology, offsets, definition.start);
  const consumed = locations.map((location, shard) => {
    const { added_id: offset = undefined, given = Number.POSITIVE_INFINITY } = location ?? {};
    const mark = marks.get(shard)?.added_id;
    // Cells after the last one that was sent are of columns that the trigger does not want.
    const isAllConsumed = waiting === 0 || mark === undefined || mark >= given;
    return offset === undefined || isAllConsumed ? offset : Math.min(offset, mark);
  });
  const isAll = consumed.every((position, shard) => position === offsets[shard]);
  const most =
    definition.function === undefined
      ? () => Number.POSITIVE_INFINITY
      : mostSeconds(status, await store.shards(await store.troubled(status)));
  const unconsumed = isAll ? sent : await shardLags(context, topology, consumed, definition.start);
  const shards = unconsumed.map(({ seconds, ...lag }, shard) => ({
    ...lag,
    seconds: seconds === null ? null : Math.max(sent[shard]?.seconds ?? 0, Math.min(seconds, most(shard))),
    offset: offsets[shard] ?? null,
    consumed: consumed[shard] ?? null,
  }));
  const [sentSum, sum] = [sumLags(sent), sumLags(shards)];
  return {
    shards,
    lag: { ...sum, cells: Math.min(sum.cells, sentSum.cells + (waiting ?? Number.POSITIVE_INFINITY)) },
    sent: sentSum,
    cutOff: cutOffRewinds(marks, locations),
  };
}

/** Returns how late a shard's consumers can be: they mark what is behind and record each minute that they consume. */
function mostSeconds({ sound_at }: TriggerStatus, troubled: readonly TroubledShard[]): (shard: number) => number {
  const isBehind = ({ mark, cells }: TroubledShard): boolean =>
    mark !== undefined || cells.some(({ parked_at }) => parked_at === undefined);
  const behind = new Set(troubled.filter(isBehind).map(({ shard }) => shard));
  const silentMs = sound_at === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Date.now() - Date.parse(sound_at));
  return (shard) => (behind.has(shard) ? Number.POSITIVE_INFINITY : (silentMs + LATE_MS) / 1000);
}

/** Returns how far each offset is behind its log, in order, by the writers. */
async function shardLags(
  context: StoreContext,
  topology: DatastoreTopology,
  offsets: readonly (number | undefined)[],
  start: TriggerStart,
): Promise<readonly ShardLag[]> {
  // A start other than that of the log is found when the trigger begins.
  const afters = topology.homes.map((_, shard) => offsets[shard] ?? (start === 'start' ? 0 : undefined));
  const found = await readLags(
    context,
    topology,
    afters
      .entries()
      .map(([shard, after]) => ({ shard, after }))
      .toArray(),
  );
  return afters.map((after, shard) => {
    const lag = found.get(shard);
    const known = after === undefined ? undefined : lag;
    const cells = known && after !== undefined ? Math.max(0, known.head - after) : null;
    // A committed cell that is not visible yet has just come.
    const seconds = cells === null ? null : cells === 0 ? 0 : (known?.ageSeconds ?? 0);
    return { shard, offset: offsets[shard] ?? null, head: lag?.head ?? null, cells, seconds };
  });
}

function sumLags(lags: readonly Pick<ShardLag, 'cells' | 'seconds'>[]): TriggerLag {
  return {
    cells: lags.reduce((sum, { cells }) => sum + (cells ?? 0), 0),
    seconds: lags.reduce((most, { seconds }) => Math.max(most, seconds ?? 0), 0),
    unknown_shards: lags.filter(({ cells }) => cells === null).length,
  };
}

import type { TriggerStart } from '../../definitions/definitions.ts';
import type { StoreContext } from '../../access/context.ts';
import type { DatastoreTopology } from '../../topology/topology.ts';
import type { ShardOffset } from '../../follow/encode-offsets.ts';
import { readLags } from '../../follow/follower-lag.ts';
import type { ConsumedMark } from './consumed-marks.ts';
import type { TriggerLag, TriggerShard } from '../../contract/trigger-operations.ts';

type ShardLag = Pick<TriggerShard, 'shard' | 'offset' | 'head' | 'cells' | 'seconds'>;

export interface TriggerLags {
  /** Of what is not consumed, for each shard in order. */
  readonly shards: readonly (ShardLag & Pick<TriggerShard, 'consumed'>)[];
  readonly lag: TriggerLag;
  readonly sent: TriggerLag;
}

interface TriggerLocations {
  readonly start: TriggerStart;
  /** By shard; undefined if the trigger has not begun. */
  readonly locations: readonly (Pick<ShardOffset, 'added_id' | 'given'> | undefined)[];
  readonly marks: ReadonlyMap<number, Pick<ConsumedMark, 'added_id'>>;
  /** About how many messages are on its queue; undefined if unknown. */
  readonly waiting: number | undefined;
}

/** Returns the lag of consuming and sending. Marks are rare, so the queue's depth bounds the cells. */
export async function triggerLags(
  context: StoreContext,
  topology: DatastoreTopology,
  { start, locations, marks, waiting }: TriggerLocations,
): Promise<TriggerLags> {
  const offsets = locations.map((location) => location?.added_id);
  const sent = await shardLags(context, topology, offsets, start);
  const consumed = locations.map((location, shard) => {
    const { added_id: offset = undefined, given = Number.POSITIVE_INFINITY } = location ?? {};
    const mark = marks.get(shard)?.added_id;
    // Cells after the last one that was sent are of columns that the trigger does not want.
    const isAllConsumed = waiting === 0 || mark === undefined || mark >= given;
    return offset === undefined || isAllConsumed ? offset : Math.min(offset, mark);
  });
  const isAll = consumed.every((position, shard) => position === offsets[shard]);
  const unconsumed = isAll ? sent : await shardLags(context, topology, consumed, start);
  const [sentSum, sum] = [sumLags(sent), sumLags(unconsumed)];
  return {
    shards: unconsumed.map((lag, shard) => ({
      ...lag,
      offset: offsets[shard] ?? null,
      consumed: consumed[shard] ?? null,
    })),
    lag: { ...sum, cells: Math.min(sum.cells, sentSum.cells + (waiting ?? Number.POSITIVE_INFINITY)) },
    sent: sentSum,
  };
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

function sumLags(lags: readonly ShardLag[]): TriggerLag {
  return {
    cells: lags.reduce((sum, { cells }) => sum + (cells ?? 0), 0),
    seconds: lags.reduce((most, { seconds }) => Math.max(most, seconds ?? 0), 0),
    unknown_shards: lags.filter(({ cells }) => cells === null).length,
  };
}

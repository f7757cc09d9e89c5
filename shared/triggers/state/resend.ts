import { readFollower, tellChange, type FollowerName } from '../../follow/follower-item.ts';
import { OffsetItems, type OffsetItem } from '../../follow/offset-items.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { type ConsumedMark } from './consumed-marks.ts';
import type { TriggerStore } from './dynamo-trigger-store.ts';
import type { TriggerStatus } from './trigger-store.ts';
import type { ResendEnd } from './trigger-status.ts';
import { isSameQueue } from './queues.ts';

interface ResendParts {
  readonly stateTable: DynamoTable;
  readonly follower: FollowerName;
  readonly store: Pick<TriggerStore, 'status' | 'consumed'> & { endResend(end: ResendEnd): Promise<void> };
  readonly shards: number;
  readonly queueUrl: string;
  /** Messages in the last queue. */
  readonly dead: number;
}

/** Concurrent rewinds and cuts raise the generation by one each, and do not reach that of the resend. */
const GENERATIONS_AHEAD = 100;

/**
 * Does the resend that is requested of a trigger: sets each shard back to the last cell known to be consumed, under a
 * generation that no message has yet. From then on consumers skip messages of lower ones: those left in the queue would
 * come
 * before the cells that it lost.
 *
 * Nothing is sent or consumed from the request to its end. Several workers may begin it, and repeat it after a crash.
 *
 * @returns whether one was requested to this queue
 */
export async function resendUnconsumed({
  stateTable,
  follower,
  store,
  shards,
  queueUrl,
  dead,
}: ResendParts): Promise<boolean> {
  const status = await store.status();
  const { resend, least_generation: least = 0 } = status;
  if (resend?.id === undefined || !isSameQueue(aimOf(status) ?? queueUrl, queueUrl)) return false;
  const { partitions = 0 } = (await readFollower(stateTable, follower)) ?? {};
  const items = new OffsetItems(stateTable, { ...follower, shards, partitions });
  const held = await Promise.all(Array.from({ length: partitions }, (_, partition) => items.read(partition)));
  // Nothing was sent before anything began: the first messages have generation 0.
  const generation =
    partitions === 0 ? least : GENERATIONS_AHEAD + Math.max(least, ...held.map((item) => item?.generation ?? 0));

  const sent = new Map(held.flatMap((item, partition) => (item ? shardsOf(item, partition, partitions) : [])));
  // The marks come first: they tell which cells were in the log, and marks of older messages cannot pass them.
  const marks = await store.consumed.change([...sent.keys()], (shard, mark) =>
    markForResend(mark, sent.get(shard) ?? 0, generation),
  );
  // Partitions that were not taken yet are included, or what is sent of them would be void.
  for (const partition of held.keys()) {
    await items.rewind(
      partition,
      (offsets) => offsets.map((offset, position) => locationOf(offset, marks.get(partition + position * partitions))),
      generation,
    );
  }
  await tellChange(stateTable, follower);
  await store.endResend({ id: resend.id, generation, queueUrl, dead });
  return true;
}

/** Returns the queue that cells go to, or will go to again; undefined before any did. */
export function aimOf({ queue_url, resend }: Pick<TriggerStatus, 'queue_url' | 'resend'>): string | undefined {
  return (resend?.id === undefined ? undefined : resend.queue_url) ?? queue_url;
}

function shardsOf({ offsets }: OffsetItem, partition: number, partitions: number): [shard: number, addedId: number][] {
  return offsets.flatMap((offset, position): [number, number][] =>
    offset ? [[partition + position * partitions, offset.added_id]] : [],
  );
}

/** A shard without a mark was not begun: it stays where it is. */
function markForResend(mark: ConsumedMark | undefined, sentTo: number, generation: number): ConsumedMark | undefined {
  if (!mark || mark.generation >= generation) return undefined;
  return { ...mark, generation, replayed_to: Math.max(mark.replayed_to, sentTo) };
}

/** A mark may be ahead of an offset, which is written a little after its cells are sent. */
function locationOf(
  offset: OffsetItem['offsets'][number],
  mark: ConsumedMark | undefined,
): OffsetItem['offsets'][number] {
  if (!offset || !mark || mark.added_id >= offset.added_id) return offset;
  return { added_id: mark.added_id, fingerprint: mark.added_id === 0 ? '' : mark.fingerprint, epoch: offset.epoch };
}

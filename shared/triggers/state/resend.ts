import { readFollower, tellChange } from '../../follow/follower-item.ts';
import { OffsetItems, type OffsetItem } from '../../follow/offset-items.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { consumedMarks, type ConsumedMark } from './consumed-marks.ts';
import { triggerFollower } from './follower-name.ts';
import type { TriggerName } from './trigger-items.ts';
import { endResend, readStatus } from './trigger-status.ts';
import type { TriggerStatus } from './trigger-store.ts';
import { isSameQueue } from './same-queue.ts';

interface ResendParts {
  readonly stateTable: DynamoTable;
  readonly name: TriggerName;
  /** Of its datastore. */
  readonly shards: number;
  /** Where the cells go. */
  readonly queueUrl: string;
  /** Messages in the last queue. */
  readonly dead: number;
}

/**
 * Rewinds and logs that are cut meanwhile raise the generation of a partition by one each: none reaches that of the
 * resend.
 */
const GENERATIONS_AHEAD = 100;

/**
 * Does the resend that is wanted of a trigger, if one is: sets each shard back to the cell up to which its consumers
 * are known to be, under a generation that no message has yet. From then on consumers pass over messages of lower ones:
 * those that the queue still has would come before the cells that it has lost.
 *
 * Neither sent nor consumed is anything from when it was wanted to when it is done. It may be begun by several at once,
 * and again after a crash anywhere in it.
 *
 * @returns whether one was wanted to this queue
 */
export async function resendUnconsumed({ stateTable, name, shards, queueUrl, dead }: ResendParts): Promise<boolean> {
  const status = await readStatus(stateTable, name);
  const { resend, least_generation: least = 0 } = status;
  if (resend?.id === undefined || !isSameQueue(aimOf(status) ?? queueUrl, queueUrl)) return false;
  const follower = { name: triggerFollower(name.trigger), datastore: name.datastore };
  const { partitions = 0 } = (await readFollower(stateTable, follower)) ?? {};
  const items = new OffsetItems(stateTable, { ...follower, shards, partitions });
  const held = await Promise.all(Array.from({ length: partitions }, (_, partition) => items.read(partition)));
  // Where nobody has begun nothing was sent, and what is first sent has no generation.
  const generation =
    partitions === 0 ? least : GENERATIONS_AHEAD + Math.max(least, ...held.map((item) => item?.generation ?? 0));

  const sent = new Map(held.flatMap((item, partition) => (item ? shardsOf(item, partition, partitions) : [])));
  // The marks first: they say which cells were in the log, and no mark of what was sent before can pass them.
  const marks = await consumedMarks(stateTable, name).change([...sent.keys()], (shard, mark) =>
    setBack(mark, sent.get(shard) ?? 0, generation),
  );
  // Those that nobody has taken yet, too: what is sent of them is not to be void.
  for (const partition of held.keys()) {
    await items.rewind(
      partition,
      (offsets) => offsets.map((offset, position) => locationOf(offset, marks.get(partition + position * partitions))),
      generation,
    );
  }
  await tellChange(stateTable, follower);
  await endResend(stateTable, name, { id: resend.id, generation, queueUrl, dead });
  return true;
}

/** The queue that cells go to, or are to go to again; undefined before any did. */
export function aimOf({ queue_url, resend }: Pick<TriggerStatus, 'queue_url' | 'resend'>): string | undefined {
  return (resend?.id === undefined ? undefined : resend.queue_url) ?? queue_url;
}

function shardsOf({ offsets }: OffsetItem, partition: number, partitions: number): [shard: number, addedId: number][] {
  return offsets.flatMap((offset, position): [number, number][] =>
    offset ? [[partition + position * partitions, offset.added_id]] : [],
  );
}

/** A shard without a mark was not begun by anybody who would keep one: it stays where it is. */
function setBack(mark: ConsumedMark | undefined, sentTo: number, generation: number): ConsumedMark | undefined {
  if (!mark || mark.generation >= generation) return undefined;
  return { ...mark, generation, replayed_to: Math.max(mark.replayed_to, sentTo) };
}

/** A mark may be ahead of an offset, which is written a little later than its cells are sent. */
function locationOf(
  offset: OffsetItem['offsets'][number],
  mark: ConsumedMark | undefined,
): OffsetItem['offsets'][number] {
  if (!offset || !mark || mark.added_id >= offset.added_id) return offset;
  return { added_id: mark.added_id, fingerprint: mark.added_id === 0 ? '' : mark.fingerprint, epoch: offset.epoch };
}

import { deleteState, readState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

export interface TriggerName {
  readonly datastore: string;
  readonly trigger: string;
}

/**
 * The items of a trigger in the state table.
 *
 * | pk | holds |
 * |---|---|
 * | `trigger#trips#bill_rider` | its status: `state`, `reason`, `changed_at`, `rewound_at`, `skipped` (JSON), `troubled_blocks` (of 64 shards), `changes` (another whenever a shard becomes troubled), `consumed_pages`. Of its queue: `queue_url`, `sound_at`, `dead_seen`, `least_generation`. Of the last resend: `resend_why`, `resend_asked_at`, `resend_done_at`, and while it is wanted `resend_id`, `resend_queue` |
 * | `troubled#trips#bill_rider#17` | of a shard that is not in order: `cells` (JSON, deflated), `mark_id`, `mark_at`, `version` (another with each write) |
 * | `troubled#trips#bill_rider#block-3` | of the shards 192 to 255: `shards` (that are troubled), `version` (another whenever one becomes troubled) |
 * | `malformed#trips#bill_rider` | the last messages that could not be read: `messages` (JSON, deflated), `version` |
 * | `consumed#trips#bill_rider#3` | how far its consumers are with the shards 192 to 255: `marks` (JSON, deflated), `version` |
 * | `consumed#trips#bill_rider#emptied` | how far its queue had been sent to when it was found empty: `emptied` (JSON, deflated) |
 */
export const statusKey = ({ datastore, trigger }: TriggerName): string => `trigger#${datastore}#${trigger}`;
export const troubledKey = ({ datastore, trigger }: TriggerName, shard: number): string =>
  `troubled#${datastore}#${trigger}#${shard}`;
export const troubledBlockKey = ({ datastore, trigger }: TriggerName, block: number): string =>
  `troubled#${datastore}#${trigger}#block-${block}`;
export const malformedKey = ({ datastore, trigger }: TriggerName): string => `malformed#${datastore}#${trigger}`;
export const consumedKey = ({ datastore, trigger }: TriggerName, page: number): string =>
  `consumed#${datastore}#${trigger}#${page}`;
export const emptiedKey = ({ datastore, trigger }: TriggerName): string => `consumed#${datastore}#${trigger}#emptied`;

/** An item of 64 shards has about a kilobyte at most, by which DynamoDB charges. */
const SHARDS_AN_ITEM = 64;

/** Returns the number of the item that a shard shares with its neighbours. */
export function blockOf(shard: number): number {
  return Math.floor(shard / SHARDS_AN_ITEM);
}

/** Deletes the state of a trigger; `forgetFollower` deletes its offsets. */
export async function forgetTrigger(table: DynamoTable, name: TriggerName): Promise<void> {
  const status = await readState(table, statusKey(name));
  for (const block of status?.['troubled_blocks']?.NS ?? []) {
    const key = troubledBlockKey(name, Number(block));
    for (const shard of (await readState(table, key))?.['shards']?.NS ?? [])
      await deleteState(table, troubledKey(name, Number(shard)));
    await deleteState(table, key);
  }
  for (const page of status?.['consumed_pages']?.NS ?? []) await deleteState(table, consumedKey(name, Number(page)));
  await deleteState(table, emptiedKey(name));
  await deleteState(table, malformedKey(name));
  await deleteState(table, statusKey(name));
}

/** The name under which a trigger's offsets are kept: see `shared/follow`. */
export function triggerFollower(trigger: string): string {
  return `trigger/${trigger}`;
}

import { randomUUID } from 'node:crypto';
import { readState, updateState, type StateItem } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { statusKey, type TriggerName } from './trigger-items.ts';
import type { ResendWish, TriggerStatus } from './trigger-store.ts';
import type { TriggerSkip, TriggerState } from '../../api/trigger-shapes.ts';

/** Reads the status. A trigger without an item is running: it was never paused, and nothing failed. */
export async function readStatus(table: DynamoTable, name: TriggerName): Promise<TriggerStatus> {
  return toStatus(await readState(table, statusKey(name)));
}

export function toStatus(item: StateItem = {}): TriggerStatus {
  const text = (key: string): string | undefined => item[key]?.S;
  const count = (key: string): number | undefined => (item[key]?.N === undefined ? undefined : Number(item[key].N));
  const [skipped, why, asked] = ['skipped', 'resend_why', 'resend_asked_at'].map(text);
  return {
    state: (text('state') ?? 'running') as TriggerState,
    reason: text('reason'),
    changed_at: text('changed_at'),
    troubled_blocks: (item['troubled_blocks']?.NS ?? []).map(Number),
    rewound_at: text('rewound_at'),
    skipped: skipped === undefined ? undefined : (JSON.parse(skipped) as TriggerSkip),
    queue_url: text('queue_url'),
    sound_at: text('sound_at'),
    dead_seen: count('dead_seen'),
    least_generation: count('least_generation'),
    resend:
      why === undefined || asked === undefined
        ? undefined
        : {
            why,
            asked_at: asked,
            id: text('resend_id'),
            queue_url: text('resend_queue'),
            done_at: text('resend_done_at'),
          },
  };
}

/** @param at when a rewind was requested: RFC 3339, UTC, six decimals */
export async function markRewound(table: DynamoTable, name: TriggerName, at: string): Promise<void> {
  await set(table, name, { rewound_at: { S: at } }, { remove: ['skipped'] });
}

/** Records what the last rewind skipped, if anything. */
export async function markSkipped(table: DynamoTable, name: TriggerName, skipped: TriggerSkip): Promise<void> {
  if (skipped.cells > 0) await set(table, name, { skipped: { S: JSON.stringify(skipped) } });
}

/** Records that messages leave the queue by being consumed. */
export async function confirmSound(table: DynamoTable, name: TriggerName): Promise<void> {
  await set(table, name, { sound_at: now() });
}

/**
 * Records where cells are sent to; only the first call counts. `soundAt`: since when its messages are known to be
 * consumed: for a halted trigger the time of the halt.
 */
export async function beginQueue(
  table: DynamoTable,
  name: TriggerName,
  queueUrl: string,
  soundAt: string,
): Promise<void> {
  await updateState(table, {
    key: statusKey(name),
    update: 'SET #queue_url = if_not_exists(#queue_url, :url), #sound_at = if_not_exists(#sound_at, :sound)',
    values: { ':url': { S: queueUrl }, ':sound': { S: soundAt } },
  });
}

/**
 * Requests that all that is not known to be consumed is sent again (`resendUnconsumed`). Does nothing while one is
 * requested, unless to another queue, or if the queue was found sound since the status was seen.
 */
export async function wantResend(
  table: DynamoTable,
  name: TriggerName,
  { why, seen, queueUrl }: ResendWish,
): Promise<void> {
  const wish = { resend_id: { S: randomUUID() }, resend_why: { S: why }, resend_asked_at: now() };
  const remove = ['resend_done_at'];
  if (queueUrl !== undefined) await set(table, name, { ...wish, resend_queue: { S: queueUrl } }, { remove });
  else
    await set(table, name, wish, {
      remove,
      condition: `attribute_not_exists(#resend_id) AND ${unchanged('sound_at', seen.sound_at)}`,
      values: seenValue(seen.sound_at),
    });
}

interface ResendEnd {
  readonly id: string;
  readonly generation: number;
  readonly queueUrl: string;
  /** Messages in the last queue by now: their cells are among those that are sent again. */
  readonly dead: number;
}

/** Ends a resend, unless another one was requested since. */
export async function endResend(
  table: DynamoTable,
  name: TriggerName,
  { id, generation, queueUrl, dead }: ResendEnd,
): Promise<void> {
  const ended = {
    least_generation: { N: String(generation) },
    queue_url: { S: queueUrl },
    dead_seen: { N: String(dead) },
    sound_at: now(),
    resend_done_at: now(),
  };
  await set(table, name, ended, {
    remove: ['resend_id', 'resend_queue'],
    condition: '#resend_id = :id',
    values: { ':id': { S: id } },
  });
}

/** Records the messages in the last queue that were handled; there may be fewer than before. */
export async function writeDeadSeen(table: DynamoTable, name: TriggerName, dead: number): Promise<void> {
  await set(table, name, { dead_seen: { N: String(dead) } });
}

/** Sets the state. Halting again keeps the reason if none is given, and always `since`. */
export async function writeState(
  table: DynamoTable,
  name: TriggerName,
  state: TriggerState,
  reason?: string,
): Promise<void> {
  const values = { state: { S: state }, ...(reason !== undefined && { reason: { S: reason } }) };
  const isHalted = {
    condition: 'attribute_exists(#state) AND #state <> :running',
    values: { ':running': { S: 'running' } },
  };
  if (state !== 'running' && (await set(table, name, values, isHalted))) return;
  await set(table, name, { ...values, changed_at: now() }, { remove: state === 'running' ? ['reason'] : [] });
}

/** Stops a running trigger, unless its state was set since it was seen: resuming knows of more than the old count. */
export async function stopRunning(
  table: DynamoTable,
  name: TriggerName,
  seen: TriggerStatus,
  reason: string,
): Promise<void> {
  await set(
    table,
    name,
    { state: { S: 'stopped' }, changed_at: now(), reason: { S: reason } },
    {
      condition: `(attribute_not_exists(#state) OR #state = :running) AND ${unchanged('changed_at', seen.changed_at)}`,
      values: { ':running': { S: 'running' }, ...seenValue(seen.changed_at) },
    },
  );
}

interface SetOptions {
  readonly remove?: readonly string[];
  readonly condition?: string;
  readonly values?: StateItem;
}

/** Sets attributes of the status, and returns whether the condition held. */
async function set(
  table: DynamoTable,
  name: TriggerName,
  attributes: StateItem,
  { remove = [], condition, values = {} }: SetOptions = {},
): Promise<boolean> {
  const sets = Object.keys(attributes).map((key) => `#${key} = :${key}`);
  const removes = remove.map((key) => `#${key}`);
  const update = `SET ${sets.join(', ')}${removes.length > 0 ? ` REMOVE ${removes.join(', ')}` : ''}`;
  const bound = Object.fromEntries(Object.entries(attributes).map(([key, value]) => [`:${key}`, value]));
  const item = await updateState(table, {
    key: statusKey(name),
    update,
    ...(condition !== undefined && { condition }),
    values: { ...bound, ...values },
  });
  return item !== undefined;
}

function unchanged(key: string, seen: string | undefined): string {
  return seen === undefined ? `attribute_not_exists(#${key})` : `#${key} = :seen`;
}

function seenValue(seen: string | undefined): StateItem {
  return seen === undefined ? {} : { ':seen': { S: seen } };
}

function now(): { readonly S: string } {
  return { S: new Date().toISOString() };
}

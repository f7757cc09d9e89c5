import { randomUUID } from 'node:crypto';
import { readState, updateState, type StateItem } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { statusKey, type TriggerName } from './trigger-items.ts';
import type { Resend, ResendWish, TriggerStatus } from './trigger-store.ts';
import type { TriggerSkip, TriggerState } from '../../contract/trigger-operations.ts';

/** A trigger that nobody paused, and of which nothing failed, has no item: it is running. */
export async function readStatus(table: DynamoTable, name: TriggerName): Promise<TriggerStatus> {
  return toStatus(await readState(table, statusKey(name)));
}

export function toStatus(item: StateItem | undefined): TriggerStatus {
  const [reason, changed, rewound, skipped] = ['reason', 'changed_at', 'rewound_at', 'skipped'].map(
    (key) => item?.[key]?.S,
  );
  return {
    state: (item?.['state']?.S ?? 'running') as TriggerState,
    ...(reason !== undefined && { reason }),
    ...(changed !== undefined && { changed_at: changed }),
    troubled: (item?.['troubled']?.NS ?? []).map(Number).sort((a, b) => a - b),
    ...(rewound !== undefined && { rewound_at: rewound }),
    ...(skipped !== undefined && { skipped: JSON.parse(skipped) as TriggerSkip }),
    ...queueStatus(item),
  };
}

function queueStatus(
  item: StateItem | undefined,
): Pick<TriggerStatus, 'queue_url' | 'sound_at' | 'dead_seen' | 'least_generation' | 'resend'> {
  const [queue, sound, dead, least] = [
    item?.['queue_url']?.S,
    item?.['sound_at']?.S,
    item?.['dead_seen']?.N,
    item?.['least_generation']?.N,
  ];
  const resend = toResend(item);
  return {
    ...(queue !== undefined && { queue_url: queue }),
    ...(sound !== undefined && { sound_at: sound }),
    ...(dead !== undefined && { dead_seen: Number(dead) }),
    ...(least !== undefined && { least_generation: Number(least) }),
    ...(resend && { resend }),
  };
}

function toResend(item: StateItem | undefined): Resend | undefined {
  const [why, asked] = [item?.['resend_why']?.S, item?.['resend_asked_at']?.S];
  if (why === undefined || asked === undefined) return undefined;
  const [id, queue, done] = [item?.['resend_id']?.S, item?.['resend_queue']?.S, item?.['resend_done_at']?.S];
  return {
    why,
    asked_at: asked,
    ...(id !== undefined && { id }),
    ...(queue !== undefined && { queue_url: queue }),
    ...(done !== undefined && { done_at: done }),
  };
}

/** @param at when a rewind was asked for: RFC 3339, UTC, six decimals */
export async function markRewound(table: DynamoTable, name: TriggerName, at: string): Promise<void> {
  await updateState(table, {
    key: statusKey(name),
    update: 'SET #rewound_at = :at REMOVE #skipped',
    values: { ':at': { S: at } },
  });
}

/** What the last rewind skipped; nothing is kept where that is nothing. */
export async function markSkipped(table: DynamoTable, name: TriggerName, skipped: TriggerSkip): Promise<void> {
  if (skipped.cells === 0) return;
  await updateState(table, {
    key: statusKey(name),
    update: 'SET #skipped = :skipped',
    values: { ':skipped': { S: JSON.stringify(skipped) } },
  });
}

/** Messages leave the queue by being consumed, as of now. */
export async function confirmSound(table: DynamoTable, name: TriggerName): Promise<void> {
  await updateState(table, {
    key: statusKey(name),
    update: 'SET #sound_at = :now',
    values: { ':now': { S: new Date().toISOString() } },
  });
}

/**
 * Where cells are sent to, unless somebody has said it.
 *
 * @param soundAt since when its messages are known to be consumed: of a trigger that is halted, when it was
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
 * Not while one is wanted, unless the cells are to go elsewhere; nor where the queue was found sound, or made so,
 * since.
 */
export async function wantResend(
  table: DynamoTable,
  name: TriggerName,
  { why, seen, queueUrl }: ResendWish,
): Promise<void> {
  const unchanged = seen.sound_at === undefined ? 'attribute_not_exists(#sound_at)' : '#sound_at = :seen';
  await updateState(table, {
    key: statusKey(name),
    update: `SET #resend_id = :id, #resend_why = :why, #resend_asked_at = :now${queueUrl === undefined ? '' : ', #resend_queue = :queue'} REMOVE #resend_done_at`,
    ...(queueUrl === undefined && { condition: `attribute_not_exists(#resend_id) AND ${unchanged}` }),
    values: {
      ':id': { S: randomUUID() },
      ':why': { S: why },
      ':now': { S: new Date().toISOString() },
      ...(queueUrl !== undefined && { ':queue': { S: queueUrl } }),
      ...(queueUrl === undefined && seen.sound_at !== undefined && { ':seen': { S: seen.sound_at } }),
    },
  });
}

/** What holds once a resend is done. */
interface ResendEnd {
  readonly id: string;
  readonly generation: number;
  readonly queueUrl: string;
  /** Messages in the last queue by now: their cells are among those that are sent again. */
  readonly dead: number;
}

/** Lets it go on, unless another resend was wanted since. */
export async function endResend(
  table: DynamoTable,
  name: TriggerName,
  { id, generation, queueUrl, dead }: ResendEnd,
): Promise<void> {
  await updateState(table, {
    key: statusKey(name),
    update:
      'SET #least_generation = :generation, #queue_url = :url, #dead_seen = :dead, #sound_at = :now, #resend_done_at = :now REMOVE #resend_id, #resend_queue',
    condition: '#resend_id = :id',
    values: {
      ':generation': { N: String(generation) },
      ':url': { S: queueUrl },
      ':dead': { N: String(dead) },
      ':now': { S: new Date().toISOString() },
      ':id': { S: id },
    },
  });
}

/** Messages in the last queue that are known of: there are fewer once somebody has looked after them. */
export async function writeDeadSeen(table: DynamoTable, name: TriggerName, dead: number): Promise<void> {
  await updateState(table, {
    key: statusKey(name),
    update: 'SET #dead_seen = :dead',
    values: { ':dead': { N: String(dead) } },
  });
}

/**
 * Whoever halts a trigger that is halted, and gives no reason, has nothing against the one that is there. Since when it
 * does not run stays as it is: by that it is known for how long its messages have waited.
 */
export async function writeState(
  table: DynamoTable,
  name: TriggerName,
  state: TriggerState,
  reason?: string,
): Promise<void> {
  const [key, set] = [statusKey(name), `SET #state = :state${reason === undefined ? '' : ', #reason = :reason'}`];
  const values = { ':state': { S: state }, ...(reason !== undefined && { ':reason': { S: reason } }) };
  const again = {
    key,
    update: set,
    condition: 'attribute_exists(#state) AND #state <> :running',
    values: { ...values, ':running': { S: 'running' } },
  };
  if (state !== 'running' && (await updateState(table, again))) return;
  await updateState(table, {
    key,
    update: `${set}, #changed_at = :now${state === 'running' ? ' REMOVE #reason' : ''}`,
    values: { ...values, ':now': { S: new Date().toISOString() } },
  });
}

/**
 * Stops a trigger that runs, unless somebody has set its state since it was seen: who resumes one knows of more than
 * what was counted before.
 */
export async function stopRunning(
  table: DynamoTable,
  name: TriggerName,
  seen: TriggerStatus,
  reason: string,
): Promise<void> {
  await updateState(table, {
    key: statusKey(name),
    update: 'SET #state = :stopped, #changed_at = :now, #reason = :reason',
    condition: `(attribute_not_exists(#state) OR #state = :running) AND ${seen.changed_at === undefined ? 'attribute_not_exists(#changed_at)' : '#changed_at = :seen'}`,
    values: {
      ':stopped': { S: 'stopped' },
      ':running': { S: 'running' },
      ':now': { S: new Date().toISOString() },
      ':reason': { S: reason },
      ...(seen.changed_at === undefined ? {} : { ':seen': { S: seen.changed_at } }),
    },
  });
}

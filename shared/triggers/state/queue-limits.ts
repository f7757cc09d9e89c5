import type { TriggerDefinition } from '../../definitions/definitions.ts';
import type { TriggerStatus } from './trigger-store.ts';

const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;

/** So much the clocks of two machines may differ as a rule. */
export const CLOCKS_DIFFER_MS = 60 * SECOND;

/** Of the time for which messages may wait: how often their queue is said to be sound. */
export const TOLD_IN_TIME = 12;

/** As long as SQS keeps a message at most. */
export const RETENTION_MS = 14 * DAY;

/**
 * For how long nothing of a queue can have expired since it was empty, with a day for what differs. A consumer
 * elsewhere says nothing of what it consumes: that nothing has expired is known of its queue by this alone.
 */
export const KEPT_MS = RETENTION_MS - DAY;

/**
 * The most that SQS counts to. Our functions park a cell long before, by attempts that are counted for each cell: nine
 * failing ones of a hundred attempts each, the most that a definition may want, do not take the one behind them along.
 */
const RECEIPTS_OF_FUNCTIONS = 1000;

/**
 * Where the consumer is elsewhere. SQS counts receipts of the messages behind a failing one, too: ten failing cells of
 * five attempts each must not take the one behind them along.
 */
const RECEIPTS_ELSEWHERE = 100;

/**
 * A message of a trigger that does not run goes back to its queue for so long at most, and each time it is one receipt
 * more.
 */
export const LONGEST_PAUSE_SECONDS = 300;

/** How often a message is received before SQS moves it to the trigger's last queue. */
export function mostReceipts(definition: Pick<TriggerDefinition, 'function' | 'maxAttempts'>): number {
  return definition.function === undefined
    ? Math.max(RECEIPTS_ELSEWHERE, definition.maxAttempts)
    : RECEIPTS_OF_FUNCTIONS;
}

/** A batch of a trigger's messages holds so many at most. */
export const BATCH_SIZE = 10;

/** What a Lambda function may take at most. */
const MAX_FUNCTION_SECONDS = 15 * 60;

/** How much longer than a call may take its messages stay hidden. */
export const HANDED_BACK_SECONDS = 60;

/**
 * The time for a whole batch of a trigger: each of its cells may take the trigger's timeout, and a minute is left to
 * count and to hand back. Where that is more than a Lambda function may take, the consumer hands back what is left.
 */
export function batchSeconds({ timeoutSeconds }: Pick<TriggerDefinition, 'timeoutSeconds'>): number {
  return Math.min(BATCH_SIZE * timeoutSeconds + 60, MAX_FUNCTION_SECONDS);
}

/**
 * For how long a message that was received stays hidden. Not the six times the function's time that are usual for
 * queues without groups: a function that dies hard would hold up its shard for an hour.
 */
export function hiddenSeconds(definition: Pick<TriggerDefinition, 'timeoutSeconds'>): number {
  return batchSeconds(definition) + HANDED_BACK_SECONDS;
}

/**
 * For how long messages may wait without being consumed until their queue cannot be trusted to have all of them: a
 * quarter of the time in which a halted trigger uses up their receipts, some twenty hours (two where the consumer is
 * elsewhere). The margin is for functions that end before they can hand back, and for clocks that differ.
 */
export function safeHaltMs(definition: Pick<TriggerDefinition, 'function' | 'maxAttempts'>): number {
  return Math.min(RETENTION_MS, mostReceipts(definition) * LONGEST_PAUSE_SECONDS * SECOND) / 4;
}

/** Whether its messages have waited for longer than is safe. */
export function isUnsound({ sound_at }: Pick<TriggerStatus, 'sound_at'>, safeMs: number): boolean {
  return sound_at !== undefined && Date.now() - Date.parse(sound_at) > safeMs;
}

import type { TriggerDefinition } from '../../definitions/definitions.ts';
import type { TriggerStatus } from './trigger-store.ts';

const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;

/** How much the clocks of two machines may differ. */
export const CLOCKS_DIFFER_MS = 60 * SECOND;

/** How often an idle queue is recorded as sound within the time for which messages may wait. */
const TOLD_IN_TIME = 12;

/** How often consumers record that they consume. */
export const SOUND_EVERY_MS = 60 * SECOND;

/** A message sent so long ago shows that its shard is behind: its consumer marks it. */
export const LATE_MS = 60 * SECOND;

/** The longest time that SQS keeps a message. */
export const RETENTION_MS = 14 * DAY;

/**
 * How long no message of a queue can have expired since it was empty, minus a day: for consumers elsewhere nothing else
 * tells.
 */
export const KEPT_MS = RETENTION_MS - DAY;

/** SQS's highest count. Deployed functions park a cell long before: nine of them spare the one behind. */
const RECEIPTS_OF_FUNCTIONS = 1000;

/** For consumers elsewhere: ten failing cells of five attempts must not take the one behind them along. */
const RECEIPTS_ELSEWHERE = 100;

/** How long a message of a halted trigger goes back at most; each time is one receipt more. */
export const LONGEST_PAUSE_SECONDS = 300;

/** Returns how often a message is received before SQS moves it to the last queue. */
export function mostReceipts(definition: Pick<TriggerDefinition, 'function' | 'maxAttempts'>): number {
  return definition.function === undefined
    ? Math.max(RECEIPTS_ELSEWHERE, definition.maxAttempts)
    : RECEIPTS_OF_FUNCTIONS;
}

export const BATCH_SIZE = 10;

/** The limit of a Lambda function. */
const MAX_FUNCTION_SECONDS = 15 * 60;

/** How much longer than a batch its messages stay hidden. */
export const HANDED_BACK_SECONDS = 60;

/** Returns the time for a batch: each cell's timeout, and a minute to count and hand back. */
export function batchSeconds({ timeoutSeconds }: Pick<TriggerDefinition, 'timeoutSeconds'>): number {
  return Math.min(BATCH_SIZE * timeoutSeconds + 60, MAX_FUNCTION_SECONDS);
}

/** Returns how long a message stays hidden; six times the timeout would let a hard crash cost an hour. */
export function hiddenSeconds(definition: Pick<TriggerDefinition, 'timeoutSeconds'>): number {
  return batchSeconds(definition) + HANDED_BACK_SECONDS;
}

/**
 * Returns how long messages may wait until their queue cannot be trusted to have all. It is a quarter of the time in
 * which a halted trigger uses up their receipts, some twenty hours (two for consumers elsewhere). The margin is for
 * functions that end before they hand back, and for clocks that differ.
 */
export function safeHaltMs(definition: Pick<TriggerDefinition, 'function' | 'maxAttempts'>): number {
  return Math.min(RETENTION_MS, mostReceipts(definition) * LONGEST_PAUSE_SECONDS * SECOND) / 4;
}

export function isUnsound({ sound_at }: Pick<TriggerStatus, 'sound_at'>, safeMs: number): boolean {
  return sound_at !== undefined && Date.now() - Date.parse(sound_at) > safeMs;
}

/** Whether an idle queue is to be recorded as sound again. */
export function isSoundDue(status: Pick<TriggerStatus, 'sound_at'>, safeMs: number): boolean {
  return isUnsound(status, safeMs / TOLD_IN_TIME);
}

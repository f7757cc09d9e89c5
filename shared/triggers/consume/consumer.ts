import type { TriggerDefinition } from '../../definitions/definitions.ts';
import type { TriggerMessage, TriggerStatus } from '../state/trigger-store.ts';
import { HANDED_BACK_SECONDS, LATE_MS, LONGEST_PAUSE_SECONDS, safeHaltMs } from '../state/queue-limits.ts';
import type { TriggerStore } from '../state/dynamo-trigger-store.ts';
import { consumedNotes, type ConsumedNotes } from './consumed-notes.ts';
import type { Failure } from './describe-failure.ts';
import type { HoldSettings } from './hold.ts';
import { known, type Known } from '../../known.ts';
import { marks, type Marks, type MarkSettings } from './marks.ts';
import type { ConsumerQueue } from './queue-record.ts';
import type { TriggerFunction } from './trigger-function.ts';
import type { TriggerClients } from './trigger-clients.ts';

export type ConsumeEvent =
  | { readonly kind: 'consumed'; readonly message: TriggerMessage; readonly attempt: number }
  /** Parked, done or discarded before: the function was not called. */
  | { readonly kind: 'repeated'; readonly message: TriggerMessage }
  /** Its cell was sent again since: the function was not called. */
  | { readonly kind: 'void'; readonly message: TriggerMessage }
  | ({ readonly kind: 'failed'; readonly message: TriggerMessage; readonly attempts: number } & Failure)
  | { readonly kind: 'parked'; readonly message: TriggerMessage; readonly error: string }
  /** A retry of a parked cell failed. */
  | ({ readonly kind: 'retry_failed'; readonly message: TriggerMessage } & Failure)
  | { readonly kind: 'malformed'; readonly message_id: string; readonly error: string }
  /** Parked cells stopped the trigger. */
  | { readonly kind: 'stopped' }
  /** Messages that go back to the queue. */
  | { readonly kind: 'returned'; readonly messages: number; readonly reason: ReturnReason; readonly seconds: number }
  | { readonly kind: 'state_unavailable'; readonly error: unknown }
  /** Messages that go back do so when their visibility time is over. */
  | { readonly kind: 'queue_unavailable'; readonly error: unknown };

/**
 * `no_time`: the batch's time limit is too near; `stopping`: so is the end of the process; `isolated`: another call may
 * end it.
 */
export type ReturnReason = 'failed' | 'not_running' | 'no_time' | 'stopping' | 'isolated' | 'state_unavailable';

export interface ConsumeSettings extends HoldSettings, MarkSettings {
  /** Between notes; the first are due at once, since Lambda may freeze an instance behind any answer, and reap it. */
  readonly consumedEveryMs: number;
  /** How long messages may wait until their queue cannot be trusted. */
  readonly safeHaltMs: number;
  /** The greatest age of the known status. */
  readonly statusMs: number;
  /** A failed message comes back after 1, 2, 4 … seconds, and at most so many. */
  readonly longestBackoffSeconds: number;
  /** A message of a halted trigger comes back after 2, 4, 8 … seconds, and at most so many. */
  readonly longestPauseSeconds: number;
  /** Of a batch's time, left for the work after the last call. */
  readonly marginMs: number;
}

const SETTINGS: Omit<ConsumeSettings, 'safeHaltMs' | 'holdSeconds'> = {
  statusMs: 1000,
  longestBackoffSeconds: 60,
  longestPauseSeconds: LONGEST_PAUSE_SECONDS,
  marginMs: 5000,
  holdEveryMs: 15_000,
  lateMs: LATE_MS,
  keepsUpMs: 30_000,
  markEveryMs: 10_000,
  consumedEveryMs: 30_000,
};

interface ConsumerOptions {
  readonly datastore: string;
  readonly definition: TriggerDefinition;
  readonly store: TriggerStore;
  readonly queue: ConsumerQueue;
  readonly fn: TriggerFunction;
  /** Parallel calls of a batch; those of a row come one after another. @default 1: in the order of the shard's log */
  readonly atOnce?: number;
  /** Makes the client of one call, which sends nothing after the signal. */
  readonly client: TriggerClients;
  readonly report: (event: ConsumeEvent) => void;
  readonly settings?: Partial<ConsumeSettings>;
}

/** Consumes a trigger's queue for as long as its process lives. */
export interface Consumer extends Omit<ConsumerOptions, 'settings' | 'atOnce'> {
  readonly atOnce: number;
  readonly settings: ConsumeSettings;
  readonly status: Known<TriggerStatus>;
  readonly marks: Marks;
  readonly notes: ConsumedNotes;
}

export function openConsumer(options: ConsumerOptions): Consumer {
  const { definition } = options;
  const settings = {
    ...SETTINGS,
    safeHaltMs: safeHaltMs(definition),
    holdSeconds: definition.timeoutSeconds + HANDED_BACK_SECONDS,
    ...options.settings,
  };
  const stateUnavailable = (error: unknown): void => options.report({ kind: 'state_unavailable', error });
  const { store } = options;
  const status = known(() => store.status(), { maxAgeMs: settings.statusMs, failed: stateUnavailable });
  return {
    ...options,
    atOnce: options.atOnce ?? 1,
    settings,
    status,
    marks: marks(store, settings, stateUnavailable),
    notes: consumedNotes(store, status, settings, stateUnavailable),
  };
}

import type { TriggerDefinition } from '../../definitions/definitions.ts';
import type { TriggerMessage } from '../state/message.ts';
import { LONGEST_PAUSE_SECONDS, safeHaltMs } from '../state/queue-limits.ts';
import type { TriggerStore } from '../state/trigger-store.ts';
import { consumedNotes, type ConsumedNotes, type NoteSettings } from './consumed-notes.ts';
import type { HoldSettings } from './hold.ts';
import { knownStatus, type KnownStatus } from './known-status.ts';
import { marks, type Marks, type MarkSettings } from './marks.ts';
import type { ConsumerQueue } from './queue-record.ts';
import type { TriggerFunction } from './trigger-function.ts';
import type { TriggeredClient } from './triggered-client.ts';

/** What happened to a message, or on the way. */
export type ConsumeEvent =
  | { readonly kind: 'consumed'; readonly message: TriggerMessage; readonly attempt: number }
  /** Parked, done or discarded already: the function was not called. */
  | { readonly kind: 'repeated'; readonly message: TriggerMessage }
  /** Its cell was sent again since, with those before it: the function was not called. */
  | { readonly kind: 'void'; readonly message: TriggerMessage }
  | { readonly kind: 'failed'; readonly message: TriggerMessage; readonly attempts: number; readonly error: string }
  | { readonly kind: 'parked'; readonly message: TriggerMessage; readonly error: string }
  /** A parked cell that was sent again failed again. */
  | { readonly kind: 'retry_failed'; readonly message: TriggerMessage; readonly error: string }
  | { readonly kind: 'malformed'; readonly message_id: string; readonly error: string }
  /** So many cells are parked that the trigger stopped. */
  | { readonly kind: 'stopped' }
  /** Messages that go back to the queue. */
  | { readonly kind: 'returned'; readonly messages: number; readonly reason: ReturnReason; readonly seconds: number }
  /** The state table was not reached. */
  | { readonly kind: 'state_away'; readonly error: unknown }
  /** The queue was not reached; messages that go back do so when their visibility time is over. */
  | { readonly kind: 'queue_away'; readonly error: unknown };

/** `no_time`: the batch's time limit is too near; `stopping`: so is the end of the process. */
export type ReturnReason = 'failed' | 'not_running' | 'no_time' | 'stopping' | 'state_away';

export interface ConsumeSettings extends HoldSettings, MarkSettings, NoteSettings {
  /** How old the known status of the trigger may be. */
  readonly statusMs: number;
  /** A failed message and those behind it come back after 1, 2, 4 … seconds, at most so many. */
  readonly longestBackoffSeconds: number;
  /** Messages of a trigger that does not run come back after 2, 4, 8 … seconds, at most so many. */
  readonly longestPauseSeconds: number;
  /** Of a batch's time, left for what comes after the last call. */
  readonly marginMs: number;
}

const SETTINGS: Omit<ConsumeSettings, 'safeHaltMs'> = {
  statusMs: 1000,
  longestBackoffSeconds: 60,
  longestPauseSeconds: LONGEST_PAUSE_SECONDS,
  marginMs: 5000,
  holdSeconds: 60,
  holdEveryMs: 15_000,
  lateMs: 60_000,
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
  /** Calls of a batch side by side: those of a row one after the other. @default 1: in the order of the shard's log */
  readonly atOnce?: number;
  /** The function's client for one call; sends nothing any more once the signal is aborted. */
  readonly client: (signal: AbortSignal) => TriggeredClient;
  readonly report: (event: ConsumeEvent) => void;
  readonly settings?: Partial<ConsumeSettings>;
}

/** Consumes a trigger's queue, batch by batch; kept as long as its process lives. See `consumeBatch`. */
export interface Consumer extends Omit<ConsumerOptions, 'settings' | 'atOnce'> {
  readonly atOnce: number;
  readonly settings: ConsumeSettings;
  readonly status: KnownStatus;
  readonly marks: Marks;
  readonly notes: ConsumedNotes;
}

export function openConsumer(options: ConsumerOptions): Consumer {
  const settings = { ...SETTINGS, safeHaltMs: safeHaltMs(options.definition), ...options.settings };
  const stateAway = (error: unknown): void => options.report({ kind: 'state_away', error });
  const { store } = options;
  return {
    ...options,
    atOnce: options.atOnce ?? 1,
    settings,
    status: knownStatus(store, settings.statusMs, stateAway),
    marks: marks(store, settings, stateAway),
    notes: consumedNotes(store, settings, stateAway),
  };
}

import type { FollowEvent } from '../../follow/follower.ts';
import { known } from '../../known.ts';
import { ofFirst, repeat } from '../../repeat.ts';
import type { DeployedTrigger } from '../../topology/topology.ts';
import type { TriggerStore } from '../state/dynamo-trigger-store.ts';
import type { SendingQueues } from '../state/queues.ts';
import type { TailSettings } from './settings.ts';

export interface TailWork {
  readonly datastore: string;
  readonly deployed: DeployedTrigger;
  readonly queues: SendingQueues;
  readonly store: TriggerStore;
  readonly settings: TailSettings;
  readonly report: (happening: TailHappening) => void;
}

/** Polls something until the signal, and reports the first of consecutive failures. */
export function poll(
  { report }: Pick<TailWork, 'report'>,
  { what, everyMs, look }: { readonly what: string; readonly everyMs: number; readonly look: () => Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  return repeat({ turn: look, everyMs, failed: ofFirst((error) => report({ kind: 'failed', what, error })) }, signal);
}

/** Returns a look that joins the one under way, never fails, and reports the first of consecutive failures. */
export function joinedLook(
  { report }: Pick<TailWork, 'report'>,
  what: string,
  look: () => Promise<void>,
): () => Promise<void> {
  return known(look, { failed: (error) => report({ kind: 'failed', what, error }) }).look;
}

/** An event for a metric or a log line. Never holds a cell's body. */
export type TailEvent = { readonly datastore: string; readonly trigger: string } & TailHappening;

export type TailHappening =
  | { readonly kind: 'followed'; readonly event: FollowEvent }
  /** Cells that the queue took; some may be replays after a rewind. */
  | { readonly kind: 'sent'; readonly cells: number; readonly replays: number }
  /** Parked cells that were sent again. */
  | { readonly kind: 'retried'; readonly cells: number }
  /** SQS did not take messages: they are sent again. Reported at the first of consecutive failures. */
  | { readonly kind: 'send_failed'; readonly error: unknown }
  /** How far consuming and sending are behind the logs that can be read: the cells, and the age of the oldest. */
  | {
      readonly kind: 'lag';
      readonly cells: number;
      readonly seconds: number;
      readonly unsentCells: number;
      readonly unsentSeconds: number;
    }
  /** What waits for an operator. */
  | {
      readonly kind: 'troubles';
      readonly isStopped: boolean;
      readonly parked: number;
      readonly malformed: number;
    }
  /** All cells not known to be consumed are sent again from now on. */
  | { readonly kind: 'resent' }
  /** Nothing is sent for now. */
  | { readonly kind: 'held_back'; readonly why: string }
  | { readonly kind: 'goes_on' }
  | { readonly kind: 'failed'; readonly what: string; readonly error: unknown };

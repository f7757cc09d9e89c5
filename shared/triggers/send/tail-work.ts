import type { FollowEvent } from '../../follow/follower.ts';
import type { DeployedTrigger } from '../../topology/topology.ts';
import type { TriggerStore } from '../state/trigger-store.ts';
import type { QueueClient } from './queue-client.ts';
import type { TailSettings } from './settings.ts';

export interface TailWork {
  readonly datastore: string;
  readonly deployed: DeployedTrigger;
  readonly queues: QueueClient;
  readonly store: TriggerStore;
  readonly settings: TailSettings;
  readonly report: (happening: TailHappening) => void;
}

/** Something worth a metric or a log line. Never holds a cell's body. */
export type TailEvent = { readonly datastore: string; readonly trigger: string } & TailHappening;

export type TailHappening =
  | { readonly kind: 'followed'; readonly event: FollowEvent }
  /** Cells that the queue has; among them cells that were read again after a rewind. */
  | { readonly kind: 'sent'; readonly cells: number; readonly replays: number }
  /** Parked cells that were sent again. */
  | { readonly kind: 'retried'; readonly cells: number }
  /** SQS did not take messages: they are sent again. Told at the first failure of a row of them. */
  | { readonly kind: 'send_failed'; readonly error: unknown }
  /**
   * How far consuming, and sending alone, are behind the logs, as far as their groups can be read: the cells, and for
   * how long the oldest has been there.
   */
  | {
      readonly kind: 'lag';
      readonly cells: number;
      readonly seconds: number;
      readonly unsentCells: number;
      readonly unsentSeconds: number;
    }
  /** What waits for an operator now: that it stopped by itself, cells that are parked, messages that cannot be read. */
  | {
      readonly kind: 'troubles';
      readonly isStopped: boolean;
      readonly parked: number;
      readonly malformed: number;
    }
  /** All that is not known to be consumed is sent again from now on. */
  | { readonly kind: 'resent' }
  /** Nothing is sent for now. Told when it begins. */
  | { readonly kind: 'held_back'; readonly why: string }
  | { readonly kind: 'goes_on' }
  /** Tried again. Told at the first failure of a row of them. */
  | { readonly kind: 'failed'; readonly what: string; readonly error: unknown };

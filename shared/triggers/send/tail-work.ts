import type { FollowEvent } from '../../follow/follower.ts';
import type { FollowProtections } from '../../follow/run-follower.ts';
import type { DeployedTrigger } from '../../topology/topology.ts';
import type { TriggerStore } from '../state/trigger-store.ts';
import type { QueueClient } from './queue-client.ts';
import type { TailSettings } from './settings.ts';

/** What every part of tailing for one trigger works with. */
export interface TailWork {
  readonly datastore: string;
  readonly deployed: DeployedTrigger;
  readonly queues: QueueClient;
  readonly store: TriggerStore;
  readonly settings: TailSettings;
  readonly protections: TailProtections;
  readonly report: (happening: TailHappening) => void;
}

/** Lets tests show what each protection is for. */
export interface TailProtections extends Required<FollowProtections> {
  /** False moves the offsets first, and sends a little later. */
  readonly commitAfterSend: boolean;
  /**
   * A cell is sent once the one before it in its shard is known to be on the queue; after a failure it goes on with that
   * cell. False sends ten of a shard in one request, and those again that failed.
   */
  readonly resendFromFirst: boolean;
}

export const TAIL_PROTECTIONS: TailProtections = { fingerprints: true, fences: true, generation: true, commitAfterSend: true, resendFromFirst: true };

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
  /** How far consuming, and sending alone, are behind the logs, as far as their groups can be read: the cells, and for how long the oldest has been there. */
  | { readonly kind: 'lag'; readonly cells: number; readonly seconds: number; readonly unsentCells: number; readonly unsentSeconds: number }
  /** All that is not known to be consumed is sent again from now on. */
  | { readonly kind: 'resent' }
  /** Nothing is sent for now. Told when it begins. */
  | { readonly kind: 'held_back'; readonly why: string }
  | { readonly kind: 'goes_on' }
  /** Tried again. Told at the first failure of a row of them. */
  | { readonly kind: 'failed'; readonly what: string; readonly error: unknown };

import type { TriggerSkip, TriggerState } from '../../api/trigger-shapes.ts';
import type { CellAddress, ErasureScope, TransactionPlace } from '../../cell.ts';

/** The state of a trigger: one item that tailers and consumers poll. */
export interface TriggerStatus {
  readonly state: TriggerState;
  /** Why it is not running. */
  readonly reason?: string | undefined;
  /** When its state last changed: RFC 3339, UTC. */
  readonly changed_at?: string | undefined;
  /**
   * Blocks of shards of which some have failed cells, or a consumer that is behind: there is an item for each of those.
   */
  readonly troubled_blocks: readonly number[];
  /** When a rewind was last requested. RFC 3339, UTC, six decimals. */
  readonly rewound_at?: string | undefined;
  /** The cells that this rewind skipped, if any. */
  readonly skipped?: TriggerSkip | undefined;
  /** The queue with the unconsumed messages; undefined before anything was sent. */
  readonly queue_url?: string | undefined;
  /** When messages were last known to leave the queue by being consumed. RFC 3339, UTC. */
  readonly sound_at?: string | undefined;
  /** Messages in the last queue that were handled. */
  readonly dead_seen?: number | undefined;
  /** Messages of lower generations are void: their cells were sent again since. */
  readonly least_generation?: number | undefined;
  readonly resend?: Resend | undefined;
}

/** The last resend of all that was not known to be consumed, since the queue may have lost some of it. */
interface Resend {
  /** Set until it is done: nothing is sent or consumed before that. */
  readonly id?: string | undefined;
  /** The queue that the cells then go to, if it is another one than before. */
  readonly queue_url?: string | undefined;
  readonly why: string;
  readonly asked_at: string;
  readonly done_at?: string | undefined;
}

/** Whether cells are sent and consumed now. */
export function isAtWork({ state, resend }: Pick<TriggerStatus, 'state' | 'resend'>): boolean {
  return state === 'running' && resend?.id === undefined;
}

export interface FailingCell {
  readonly message: TriggerMessage;
  readonly attempts: number;
  readonly first_failed_at: string;
  readonly last_failed_at: string;
  /** At most 500 characters. */
  readonly last_error: string;
  /** Set once it is parked. */
  readonly parked_at?: string;
  /** How often it was sent again since it was parked. */
  readonly round: number;
  /** `wanted`: to be sent again soon; `sent`: it was, and its end is not known yet. */
  readonly retry?: 'wanted' | 'sent';
  readonly retried_at?: string;
}

export interface TroubledShard {
  readonly shard: number;
  /** By added id. */
  readonly cells: readonly FailingCell[];
  /** How far the consumer is: the tailer sends little past it. Undefined if it keeps up. */
  readonly mark?: { readonly added_id: number; readonly at: string };
}

export interface ResendRequest {
  readonly why: string;
  /** The status that the request rests on. */
  readonly seen: Pick<TriggerStatus, 'sound_at'>;
  /** The queue that the cells go to from now on. @default the queue that there is */
  readonly queueUrl?: string | undefined;
}

export type ParkEnd =
  | 'parked'
  /** The trigger reached `stopAfterParked`, and is stopped. */
  | 'parked_and_stopped'
  /** The trigger does not run: nothing was parked. */
  | 'not_running';

/** The message of a cell in a trigger's queue: a pointer, from which the consumer fetches the rest. */
export interface TriggerMessage extends CellAddress {
  /**
   * Set for an erasure: of the row (the column name is empty), its column, the versions up to the ref key, or the cell.
   */
  readonly erasure?: ErasureScope;
  /** Set for a cell of a transaction. The others are next to it in the log: a function can act once for all. */
  readonly transaction?: TransactionPlace;
  readonly datastore: string;
  readonly trigger: string;
  readonly shard: number;
  readonly added_id: number;
  /** RFC 3339, UTC, six decimals. */
  readonly created_at: string;
  /** Sent again on purpose: after a rewind, a resend, or as a retry of a parked cell. */
  readonly replay: boolean;
  /** Raised by each rewind and cut. After a resend, messages of lower generations are void. */
  readonly generation: number;
}

import type { MalformedMessage, TriggerSkip, TriggerState } from '../../contract/trigger-operations.ts';
import type { ConsumedMarks } from './consumed-marks.ts';
import type { TriggerMessage } from './message.ts';

/** What everybody who works for a trigger looks at now and then: one item. */
export interface TriggerStatus {
  readonly state: TriggerState;
  /** Why it is not running. */
  readonly reason?: string;
  /** Since when it runs, or does not: RFC 3339, UTC. */
  readonly changed_at?: string;
  /** Shards that have cells which failed, or whose consumer is behind: there is an item for each. */
  readonly troubled: readonly number[];
  /** When a rewind was last asked for. RFC 3339, UTC, six decimals. */
  readonly rewound_at?: string;
  /** What that rewind skipped, if anything. */
  readonly skipped?: TriggerSkip;
  /** The queue that has what was sent and not consumed; undefined before anything was sent. */
  readonly queue_url?: string;
  /**
   * When it was last known that messages leave the queue by being consumed; undefined before anything was sent. RFC
   * 3339, UTC.
   */
  readonly sound_at?: string;
  /** So many messages in the last queue are known of, and were looked after. */
  readonly dead_seen?: number;
  /** Messages of lower generations are void: their cells were sent again since. */
  readonly least_generation?: number;
  /** The last time that everything not known to be consumed was, or is to be, sent again. */
  readonly resend?: Resend;
}

/** Everything that is not known to be consumed is sent again, since the queue may have lost some of it. */
export interface Resend {
  /** While it is wanted and not done: nothing is sent or consumed meanwhile. */
  readonly id?: string;
  /** Where the cells then go, where that is another queue than before. */
  readonly queue_url?: string;
  readonly why: string;
  readonly asked_at: string;
  readonly done_at?: string;
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
  /** `wanted`: to be sent again soon; `sent`: it was, and what came of it is not known yet. */
  readonly retry?: 'wanted' | 'sent';
  readonly retried_at?: string;
}

export interface TroubledShard {
  readonly shard: number;
  /** By added id. */
  readonly cells: readonly FailingCell[];
  /** The consumer is this far; the tailer sends only so many cells past it. Undefined where it keeps up. */
  readonly mark?: { readonly added_id: number; readonly at: string };
}

export interface ResendWish {
  readonly why: string;
  /** What the wish rests on. */
  readonly seen: Pick<TriggerStatus, 'sound_at'>;
  /** Where the cells go from now on. @default the queue that there is */
  readonly queueUrl?: string | undefined;
}

/** What became of a cell that was to be parked. */
export type ParkEnd =
  | 'parked'
  /** It was, and with it the trigger reached `stopAfterParked`: it is stopped now. */
  | 'parked_and_stopped'
  /** The trigger does not run: nothing was parked. */
  | 'not_running';

/**
 * The state of one trigger in DynamoDB: its state, and for each shard that is not in order what failed. Nothing is
 * written while nothing fails. All methods throw what DynamoDB throws; each may be repeated.
 */
export interface TriggerStore {
  status(): Promise<TriggerStatus>;
  setState(state: Exclude<TriggerState, 'running'>, reason?: string): Promise<void>;
  /** Lets it run. Whoever does has mended something, so the attempts of cells that are not parked begin anew. */
  resume(): Promise<void>;
  /** Says that it is being rewound; what is skipped by that is said once it is known. */
  markRewound(at: string): Promise<void>;
  /** Says what the last rewind skipped. */
  markSkipped(skipped: TriggerSkip): Promise<void>;
  /** How far the consumers of its shards are. */
  readonly consumed: ConsumedMarks;
  /** Says that messages leave the queue by being consumed. */
  confirmSound(): Promise<void>;
  /** Says where cells are sent to; only the first one who does is heard. */
  beginQueue(queueUrl: string, soundAt: string): Promise<void>;
  /**
   * Wants everything not known to be consumed to be sent again, see `resendUnconsumed`; not when it was since the
   * status was seen.
   */
  wantResend(wish: ResendWish): Promise<void>;
  /** Consistent reads, in batches, in the order asked for; shards without an item are left out. */
  shards(shards: readonly number[]): Promise<readonly TroubledShard[]>;
  /**
   * Counts an attempt before it is made: one that ends the process is known then. Returns how many there were before.
   */
  begin(message: TriggerMessage): Promise<number>;
  /**
   * Counts a failure, unless `begin` counted it (`counted`). With `marks`, the first one of a cell also marks its shard
   * there, see `mark`: a change for both. Returns how many attempts there were now.
   */
  failed(
    message: TriggerMessage,
    error: string,
    counted: boolean,
    also?: { readonly marks?: boolean },
  ): Promise<number>;
  /** Parks a cell that has failed, unless the trigger is not running any more. */
  park(message: TriggerMessage, error: string, stopAfterParked: number): Promise<ParkEnd>;
  /** Parks a cell that SQS gave up on, to be sent again soon. Throws an Error where its shard can keep no more. */
  parkDead(message: TriggerMessage, error: string): Promise<void>;
  /** Parks a message that cannot be read. */
  parkMalformed(message: Omit<MalformedMessage, 'parked_at'>): Promise<void>;
  malformed(): Promise<readonly MalformedMessage[]>;
  /** A replay of a parked cell failed: it stays parked, with the new error and one more attempt. */
  retryFailed(message: TriggerMessage, error: string): Promise<void>;
  /** Forgets a cell that had failed: it is done. With `keepsUp`, also its shard's mark: a change for both. */
  succeeded(message: TriggerMessage, also?: { readonly keepsUp?: boolean }): Promise<void>;
  /** Says how far the consumer of a shard is, or with undefined that it keeps up. */
  mark(shard: number, addedId: number | undefined): Promise<void>;
  /** Wants parked cells to be sent again. Returns how many there were. `cells` undefined: all of them. */
  wantRetry(cells?: readonly { readonly shard: number; readonly added_id: number }[]): Promise<number>;
  /** Takes a wish, or one that is due: false when somebody else did. The round goes up. */
  takeRetry(cell: FailingCell): Promise<boolean>;
  /** Forgets parked cells for good. Returns how many there were. */
  discard(cells?: readonly { readonly shard: number; readonly added_id: number }[]): Promise<number>;
}

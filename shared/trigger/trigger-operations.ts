import type { CellAddress } from '../cell.ts';
import type { RewindTo } from '../follow/rewind-follower.ts';
import type { CellPlace } from './parked-cells.ts';
import type { MalformedMessage, TriggerState } from './trigger-store.ts';

/**
 * The operator's view of one datastore's triggers: the real ones, and a client's over HTTP. Types only.
 *
 * Every method that names a trigger throws `unknown_trigger`; all throw `unavailable` when the state cannot be reached,
 * and may be repeated then.
 */
export interface TriggerOperations {
  /** By name. */
  triggers(): Promise<readonly TriggerSummary[]>;
  /** One trigger, and a page of its shards. */
  trigger(name: string, options?: TriggerShardsOptions): Promise<TriggerDetails>;

  /** Halts sending and consuming; queued messages stay. A trigger that had stopped is paused from then on. */
  pauseTrigger(name: string, reason?: string): Promise<TriggerSwitch>;
  /** Lets a paused or stopped trigger go on. Parked cells stay parked. */
  resumeTrigger(name: string): Promise<TriggerSwitch>;
  /**
   * Sets it to another place, back or on; a time must have passed. Cells sent again are marked as replays.
   *
   * @throws SchemalessError `unknown_shard`, `invalid_field` for a place that is not in the log
   */
  rewindTrigger(name: string, to: RewindTo): Promise<TriggerSwitch>;

  /** Cells by shard and added id, then the messages that could not be read. */
  parkedCells(name: string, options?: ParkedOptions): Promise<ParkedPage>;
  /** Wants parked cells to be sent again, `*`: all of them. Returns how many there were. */
  retryParked(name: string, cells: ParkedChoice): Promise<number>;
  /** Forgets parked cells for good, `*`: all of them, and the messages that could not be read. Returns how many there were. */
  discardParked(name: string, cells: ParkedChoice): Promise<number>;
}

/** Whether it runs, and since when. */
export interface TriggerSwitch {
  readonly trigger: string;
  readonly state: TriggerState;
  /** Why it does not run; null where nobody said. */
  readonly reason: string | null;
  /** Null while nobody has changed it. */
  readonly changed_at: string | null;
  /** Of the last rewind; null where there was none. */
  readonly rewound_at: string | null;
}

/** A trigger: what its definition says, how it does. */
export interface TriggerSummary extends TriggerSwitch {
  readonly columns: readonly string[] | '*';
  /** Null where its consumer is elsewhere. */
  readonly function: string | null;
  /** `start`, `now`, or a time. */
  readonly start: string;
  readonly max_attempts: number;
  readonly stop_after_parked: number;
  /** Null: never. */
  readonly retry_parked_every_seconds: number | null;
  readonly timeout_seconds: number;
  readonly lag: TriggerLag;
  /** Cells that are parked now. */
  readonly parked: number;
  /** Messages that could not be read, and are kept. */
  readonly malformed: number;
  /** Cells that failed, and are tried again. */
  readonly failing: number;
}

/** How far sending is behind the logs. Offsets are written up to three seconds late, so some cells may be sent already. */
export interface TriggerLag {
  /** Cells of any column after the offsets. */
  readonly cells: number;
  /** Age of the oldest of them; 0 where there is none. */
  readonly seconds: number;
  /** Shards that are not counted in: their group cannot be read, or the trigger has not begun with them. */
  readonly unknown_shards: number;
}

/** One trigger with a page of its shards. */
export interface TriggerDetails extends TriggerSummary {
  /** In order. */
  readonly shards: readonly TriggerShard[];
  /** What to send as `after` to go on; null at the end. */
  readonly next: number | null;
}

export interface TriggerShard {
  readonly shard: number;
  /** The added id up to which cells were sent; null before the trigger has begun there. */
  readonly offset: number | null;
  /** The last added id of the log; null while its group cannot be read. */
  readonly head: number | null;
  /** Cells of any column after the offset; null while it is not known. */
  readonly cells: number | null;
  /** Age of the oldest of them; null while it is not known. */
  readonly seconds: number | null;
  readonly parked: number;
  readonly failing: number;
}

export interface TriggerShardsOptions {
  /** Shards, 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** Only shards after this one. */
  readonly after?: number | undefined;
}

export interface ParkedOptions {
  /** Cells and messages, 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** A cell in its place, and what happened to it. */
export interface ParkedCell extends CellAddress {
  readonly shard: number;
  readonly added_id: number;
  readonly created_at: string;
  readonly attempts: number;
  readonly first_failed_at: string;
  readonly last_failed_at: string;
  readonly last_error: string;
  readonly parked_at: string;
  /** How often it was sent again since it was parked. */
  readonly round: number;
  /** `wanted`: to be sent again soon; `sent`: it was, and what came of it is not known yet; null: neither. */
  readonly retry: 'wanted' | 'sent' | null;
  readonly retried_at: string | null;
}

export interface ParkedPage {
  readonly cells: readonly ParkedCell[];
  /** By message id; only once all cells have come. */
  readonly malformed: readonly MalformedMessage[];
  /** What to send as `after` to go on; null at the end. */
  readonly next: string | null;
}

/** Some parked cells by their places, 1 to 1000; or all of them. */
export type ParkedChoice = readonly CellPlace[] | '*';

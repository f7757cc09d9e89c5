import type { CellAddress } from '../cell.ts';

/**
 * The operator's view of one datastore's triggers: the real ones, and a client's over HTTP. Types only.
 *
 * Every method that names a trigger throws `unknown_trigger`; all throw `unavailable` when the state cannot be reached,
 * and may be repeated then.
 */
export interface TriggerOperations {
  triggers(): Promise<readonly TriggerSummary[]>;
  trigger(name: string, options?: TriggerShardsOptions): Promise<TriggerDetails>;

  /** Halts sending and consuming; queued messages stay. A trigger that had stopped is paused from then on. */
  pauseTrigger(name: string, reason?: string): Promise<TriggerSwitch>;
  /** Lets a paused or stopped trigger go on. Parked cells stay parked. */
  resumeTrigger(name: string): Promise<TriggerSwitch>;
  /**
   * Sets it to another place, back or on; a time must have passed. Cells sent again are marked as replays; those that
   * lie between where it was and a place further on are skipped: never sent, and said so. What is on its queue already
   * stays there, and is consumed. Throws SchemalessError `unknown_shard`, `invalid_field` for a place that is not in
   * the log.
   */
  rewindTrigger(name: string, to: RewindTo, options?: RewindOptions): Promise<TriggerRewind>;

  /** Cells by shard and added id, then the messages that could not be read. */
  parkedCells(name: string, options?: ParkedOptions): Promise<ParkedPage>;
  /** Wants parked cells to be sent again, `*`: all of them. */
  retryParked(name: string, cells: ParkedChoice): Promise<ParkedCount>;
  /** Forgets parked cells for good, `*`: all of them, and the messages that could not be read. */
  discardParked(name: string, cells: ParkedChoice): Promise<ParkedCount>;

  /** Lists what SQS gave up on, as far as it shows it: at most ten messages a shard. Hides them for a moment. */
  deadMessages(name: string, options?: Pick<ParkedOptions, 'limit'>): Promise<DeadPage>;
  /** Parks the cells of all messages that SQS gave up on, to be sent soon, and empties the last queue. */
  replayDead(name: string): Promise<DeadCount>;
  /** Deletes all messages that SQS gave up on. */
  discardDead(name: string): Promise<DeadCount>;
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
  /** What that rewind skipped; null where it skipped nothing. */
  readonly skipped: TriggerSkip | null;
  /** The last time that all cells not known to be consumed were sent again; null if never. */
  readonly resent: TriggerResend | null;
}

/** What a rewind skipped: cells that were not sent, and will not be, unless it is rewound to before them. */
export interface TriggerSkip {
  /** Of any column, of all shards. */
  readonly cells: number;
  readonly shards: number;
}

export interface RewindOptions {
  /** Says what it would skip, and changes nothing. @default false */
  readonly dry_run?: boolean | undefined;
}

/** What a rewind did, or would do. */
export interface TriggerRewind extends TriggerSwitch {
  readonly dry_run: boolean;
  /** The shards of which it skips cells, in order. */
  readonly skips: readonly ShardSkip[];
}

/** Cells of one shard that are skipped: those after the one place, up to the other. */
export interface ShardSkip {
  readonly shard: number;
  /** The added id up to which cells were sent. */
  readonly after: number;
  /** The last one that is skipped. */
  readonly to: number;
  /** Of any column: those of other columns than the trigger's would not have been sent anyway. */
  readonly cells: number;
}

interface TriggerResend {
  readonly why: string;
  readonly asked_at: string;
  /** Null while it is under way: nothing is sent or consumed until then. */
  readonly done_at: string | null;
  /** Messages of lower generations are void: their cells were sent again since. */
  readonly least_generation: number;
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
  /** How far consuming is behind the logs: at most so much, since what is consumed is written down now and then. */
  readonly lag: TriggerLag;
  /** How far sending is behind the logs. Offsets are up to three seconds old: some cells may be sent already. */
  readonly sent: TriggerLag;
  /** Messages on its queue, being consumed or not, as SQS counts them: about. Null while SQS does not say. */
  readonly waiting: number | null;
  /** Messages in its last queue, which SQS gave up on: about. Null while SQS does not say. */
  readonly dead: number | null;
  /** Cells that are parked now. */
  readonly parked: number;
  /** Messages that could not be read, and are kept. */
  readonly malformed: number;
  /** Cells that failed, and are tried again. */
  readonly failing: number;
  /** What was last thrown for one of the failing and parked cells; null where there is none. */
  readonly last_error: TriggerError | null;
}

/** A failure of a trigger's function. */
export interface TriggerError {
  readonly error: string;
  readonly at: string;
  readonly shard: number;
  readonly added_id: number;
}

/** Something that is behind the logs. */
export interface TriggerLag {
  /** Cells of any column that come after it. */
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
  /** The added id up to which cells are known to be consumed; null before the trigger has begun there. */
  readonly consumed: number | null;
  /** The last added id of the log; null while its group cannot be read. */
  readonly head: number | null;
  /** Cells of any column that are not known to be consumed; null while it is not known. */
  readonly cells: number | null;
  /** Age of the oldest of them; null while it is not known. */
  readonly seconds: number | null;
  readonly parked: number;
  readonly failing: number;
}

interface TriggerShardsOptions {
  /** Shards, 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  readonly after?: number | undefined;
}

interface ParkedOptions {
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

/** What came of a choice of parked cells. */
export interface ParkedCount {
  /** How many there were. */
  readonly count: number;
  /** Those of the choice that are not parked. */
  readonly not_parked: readonly CellLocation[];
}

/** A message that SQS gave up on. */
export interface DeadMessageShown {
  readonly message_id: string;
  /** When it was sent, or SQS moved it. */
  readonly sent_at: string;
  /** Null where it is not one of ours: see `body`. */
  readonly cell: (CellAddress & CellLocation & { readonly created_at: string }) | null;
  /** Its cell was sent again since, with those before it: nothing is lost with it. */
  readonly resent: boolean;
  /** At most 1000 characters; null where the cell says all. */
  readonly body: string | null;
}

export interface DeadPage {
  readonly messages: readonly DeadMessageShown[];
  /** In the last queue, shown or not, about. */
  readonly count: number;
}

/** What became of the messages that SQS gave up on. */
export interface DeadCount {
  /** How many were taken out. */
  readonly count: number;
  /** Left, about: hidden from us, or more than one request has time for. Repeat it. */
  readonly left: number;
}

/** Some parked cells by their places, 1 to 1000; or all of them. */
export type ParkedChoice = readonly CellLocation[] | '*';

/**
 * - `running`: cells are sent and consumed.
 * - `paused`: an operator wants neither; queued messages stay.
 * - `stopped`: too many cells are parked; the same, until somebody resumes it.
 */
export type TriggerState = 'running' | 'paused' | 'stopped';

/** The start of every log, its end, a time (inclusive), or for some shards the added id after which to go on. */
export type RewindTo = 'start' | 'now' | { readonly since: string } | { readonly shards: ReadonlyMap<number, number> };

export interface CellLocation {
  readonly shard: number;
  readonly added_id: number;
}

/** A message that says no cell: parked with the reason. */
export interface MalformedMessage {
  readonly message_id: string;
  /** At most 1000 characters. */
  readonly body: string;
  readonly error: string;
  readonly parked_at: string;
}

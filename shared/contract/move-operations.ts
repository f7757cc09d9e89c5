/**
 * The operator's view of the moves of one datastore's shards: the real ones, and a client's over HTTP. Types only.
 *
 * A move keeps a **copy** of a shard on another group, which follows the shard's log. A switch makes the copy the shard,
 * and what was the shard the copy: the first one moves the shard, the next one moves it back. The copy is dropped by
 * `complete` once the shard is where it is to stay, or by `cancel` before it was ever switched.
 *
 * Every method that names a shard throws `unknown_shard`; those that name a move throw `unknown_move` where the shard
 * has none, and `move_refused` for what its step does not allow; all throw `unavailable` when the state cannot be
 * reached, and may be repeated then.
 */
export interface MoveOperations {
  /** All moves that are under way, by shard. */
  moves(): Promise<readonly MoveStatus[]>;
  /** The move of a shard that is under way, or the last one that ended. */
  move(shard: number): Promise<MoveStatus>;
  /**
   * Begins one; asked again with the same group, gives the one that is under way. Throws SchemalessError
   * `move_refused`: the shard is on that group already, or is being moved elsewhere; `invalid_field` for a group that
   * there is not.
   */
  createMove(shard: number, to: string, options?: MoveOptions): Promise<MoveStatus>;
  /** Makes the copy the shard as soon as it has all of it: refused after the first time, see `reverseMove`. */
  switchMove(shard: number): Promise<MoveStatus>;
  /** Makes the shard again what it was before the last switch, with everything written since. */
  reverseMove(shard: number): Promise<MoveStatus>;
  /** Drops the copy; the shard stays where it is. Refused before the first switch. */
  completeMove(shard: number): Promise<MoveStatus>;
  /** Drops the copy; refused once the shard has moved. */
  cancelMove(shard: number): Promise<MoveStatus>;
  /** Compares the whole copy once more with the shard, from the first cell. */
  verifyMove(shard: number): Promise<MoveStatus>;
}

export interface MoveOptions {
  /** Switches by itself, once. @default false: `switchMove` says when */
  readonly switch?: boolean | undefined;
  /** Completes by itself so many seconds after that. @default never: `completeMove` says when */
  readonly complete_after_seconds?: number | undefined;
}

/**
 * Where a move is.
 *
 * - `waiting`: another move that copies uses one of its groups.
 * - `copying`: what the shard held when it was begun, and what came since.
 * - `following`: the copy has all but the last cells.
 * - `switching`: the shard takes no writes for a moment, and becomes the copy's.
 * - `dropping`: the copy is being dropped.
 * - `completed`, `cancelled`: it is over.
 */
const MOVE_STEPS = ['waiting', 'copying', 'following', 'switching', 'dropping', 'completed', 'cancelled'] as const;
export type MoveStep = (typeof MOVE_STEPS)[number];

export interface MoveStatus {
  readonly shard: number;
  /** Who holds the shard, and who its copy: a switch exchanges them. */
  readonly from: string;
  readonly to: string;
  readonly step: MoveStep;
  /** What was asked for, and is not done yet. */
  readonly wanted: 'switch' | 'drop' | null;
  readonly switches: number;
  /** RFC 3339, UTC. */
  readonly created_at: string;
  readonly switched_at: string | null;
  /** Of the log: the last added id that the shard was seen to have, that the copy has, and up to which both were compared. */
  readonly head: number;
  readonly copied: number;
  readonly compared: number;
  /** Bytes of bodies that were copied. */
  readonly bytes: number;
  /** Bytes of bodies a second, lately. */
  readonly bytes_per_second: number;
  /** Seconds until the copy has all of the shard, by that; null where nobody knows. */
  readonly eta_seconds: number | null;
  /** Of both at `compared`: 64 hexadecimal digits; null before the first cell. */
  readonly digest: string | null;
  /** How often the copy was begun anew from an earlier place, since the shard's log, or the copy, had lost its end. */
  readonly restarts: number;
  /** How long the shard took no writes in each switch, in milliseconds. */
  readonly closed_ms: readonly number[];
  readonly complete_after_seconds: number | null;
  /** What it stumbled over last; null where it goes well. */
  readonly last_error: string | null;
}

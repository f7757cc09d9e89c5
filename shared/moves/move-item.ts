import type { StoreContext } from '../access/context.ts';
import type { Leases } from '../dynamo/lease.ts';
import type { MoveStep } from '../api/moves.ts';
import { changeItem, type ItemChange } from '../dynamo/change-item.ts';
import { readState, type StateItem } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { MovingShard } from '../topology/moving-shards.ts';
import { EMPTY_CHAIN, type Chain } from './chain.ts';

/** Requests of an operator for a move; `verify` is cleared once the copy was compared. */
export type MoveRequest = 'switch' | 'reverse' | 'complete' | 'cancel' | 'verify';

/**
 * A move as its item has it: `move#trips#0233` of the state table. Only the mover writes `move`, operators write
 * `desired`. A shard's last move stays after its end. The topology has the groups of the shard and its copy.
 */
export interface Move extends MovingShard {
  /** Unique to each: a late write for one move changes no other. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly step: MoveStep;
  readonly created_at: string;
  readonly switched_at: string | null;
  readonly switches: number;
  /** Of the switch under way: the shard's epoch after it, the id of the attempt, and when the shard was closed. */
  readonly epoch: number;
  readonly attempt: string;
  readonly closed_at: number;
  /** The lease token of the last writer: a mover with a lower token writes nothing. */
  readonly token: number;
  /** When writers were told to maintain entries of the copy. By the clock of the mover. */
  readonly announced_at: number;
  /** Of the shard, as it was read, and of the copy, as it was read back. */
  readonly source: Chain;
  readonly target: Chain;
  /** The last added id in the copy: beyond `source` while cells are read again. */
  readonly copied: number;
  /** Index tables of the copy that got all entries of the shard's. */
  readonly indexed: readonly string[];
  /** By the clock of the mover; 0 before. */
  readonly indexed_at: number;
  /** Index tables with entries that only the former shard got, and that are still to be copied to the shard. */
  readonly owed: readonly string[];
  /** The position to continue from in an index table. */
  readonly cursor: EntryCursor | null;
  /** Failed switches since the last successful one, and when to try the next. */
  readonly failures: number;
  readonly retry_at: number;
  readonly head: number;
  readonly bytes: number;
  readonly bytes_per_second: number;
  readonly restarts: number;
  readonly closed_ms: readonly number[];
  readonly switchesAlone: boolean;
  readonly complete_after_seconds: number | null;
  readonly last_error: string | null;
}

export interface MoveWork {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly leases: Leases;
  readonly settings: MoveSettings;
  /** Tells instances that the topology changed. */
  readonly tellMoved: () => void;
  /** Ends the turn at its next page. */
  readonly signal: AbortSignal;
  /** The state that the previous turn left is unknown: it was another mover's, it failed, or it switched. */
  readonly isFirst: boolean;
  /** Returns whether no other move copies on its groups, or began to wait for them earlier. */
  readonly mayCopy: (move: Move) => boolean;
  /** Writes the progress, and clears a fulfilled request. Throws if another process moves shards by now. */
  readonly write: (move: Move, fulfilled?: MoveRequest | null) => Promise<void>;
}

export interface MoveSettings {
  /** How long a turn copies before it writes its progress. @default 1000 */
  readonly turnMs?: number;
  /** The part of its time that copying takes: the rest belongs to the groups' own work. @default 0.5 */
  readonly share?: number;
  /** How long entries wait to be copied, so that instances hear of the copy first. @default 3000 */
  readonly announcedMs?: number;
  /** Between polls: for new moves, and of a log that is followed. @default 1000, 200, and 2000 while nothing comes */
  readonly pollMs?: number;
  /** How long a switch may keep the shard closed before it is given up, and tried again later. @default 150 */
  readonly closedMs?: number;
}

/** A key of an index table, as JSON can hold it. */
export interface EntryCursor {
  /** The work on the table. */
  readonly task: string;
  /** Of the shard field: bytes in base64, or as MySQL writes it. */
  readonly bytes?: string;
  readonly text?: string;
  readonly row_key: string;
}

export interface MoveItem {
  readonly move: Move;
  readonly desired: MoveRequest | null;
}

function keyOf({ datastore, shard }: MovingShard): string {
  return `move#${datastore}#${String(shard).padStart(4, '0')}`;
}

/** The fields of a new move: its progress begins empty. */
type NewMove = Pick<
  Move,
  'datastore' | 'shard' | 'id' | 'from' | 'to' | 'created_at' | 'switchesAlone' | 'complete_after_seconds'
>;

export function newMove(given: NewMove): Move {
  return {
    ...given,
    step: 'waiting',
    switched_at: null,
    switches: 0,
    epoch: 0,
    attempt: '',
    closed_at: 0,
    token: 0,
    announced_at: 0,
    source: EMPTY_CHAIN,
    target: EMPTY_CHAIN,
    copied: 0,
    indexed: [],
    indexed_at: 0,
    owed: [],
    cursor: null,
    failures: 0,
    retry_at: 0,
    head: 0,
    bytes: 0,
    bytes_per_second: 0,
    restarts: 0,
    closed_ms: [],
    last_error: null,
  };
}

export async function readMove(table: DynamoTable, of: MovingShard): Promise<MoveItem | undefined> {
  return toMove(await readState(table, keyOf(of)));
}

/** Begins a move if the shard has none, or only one that has ended. Returns its current move. */
export function beginMove(table: DynamoTable, move: Move): Promise<Move> {
  return change(table, move, (seen) =>
    seen && seen.move.id === move.id ? { result: seen.move } : { move, desired: null, result: move },
  );
}

/** Records the request of an operator. @throws what `check` throws */
export function requestMove(
  table: DynamoTable,
  of: MovingShard,
  check: (seen: MoveItem | undefined) => MoveRequest | null,
): Promise<MoveItem | undefined> {
  return change(table, of, (seen) => {
    const desired = check(seen);
    return seen && desired ? { desired, result: { ...seen, desired } } : { result: seen };
  });
}

/**
 * Writes the mover's progress. Returns undefined, and writes nothing, if the shard has another move by now or another
 * process moves shards. `fulfilled`: the request to clear; a newer one stays.
 */
export function writeMove(
  table: DynamoTable,
  move: Move,
  fulfilled?: MoveRequest | null,
): Promise<MoveItem | undefined> {
  return change(table, move, (seen) => {
    if (!seen || seen.move.id !== move.id || seen.move.token > move.token) return { result: undefined };
    const desired = seen.desired === fulfilled ? null : seen.desired;
    return { move, desired, result: { move, desired } };
  });
}

export function hasEnded({ step }: Move): boolean {
  return step === 'completed' || step === 'cancelled';
}

export function isSwitchWanted({ switchesAlone, switches }: Move, desired: MoveRequest | null): boolean {
  return desired === 'switch' || desired === 'reverse' || (switchesAlone && switches === 0);
}

interface Change<T> {
  readonly move?: Move;
  readonly desired?: MoveRequest | null;
  readonly result: T;
}

function change<T>(table: DynamoTable, of: MovingShard, make: (seen: MoveItem | undefined) => Change<T>): Promise<T> {
  return changeItem(table, keyOf(of), (item): ItemChange<T> => {
    const { move, desired, result } = make(toMove(item));
    if (!move && desired === undefined) return { result };
    return {
      values: {
        ...(move && { move: { S: JSON.stringify(move) } }),
        ...(desired !== undefined && { desired: desired === null ? undefined : { S: desired } }),
      },
      result,
    };
  });
}

function toMove(item: StateItem | undefined): MoveItem | undefined {
  const text = item?.['move']?.S;
  if (text === undefined) return undefined;
  return { move: JSON.parse(text) as Move, desired: (item?.['desired']?.S as MoveRequest | undefined) ?? null };
}

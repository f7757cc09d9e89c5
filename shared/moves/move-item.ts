import type { StoreContext } from '../access/context.ts';
import type { Leases } from '../dynamo/lease.ts';
import type { MoveStep } from '../api/moves.ts';
import { changeItem, type ItemChange } from '../dynamo/change-item.ts';
import { readState, type StateItem } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { MovingShard } from '../topology/moving-shards.ts';
import { EMPTY_CHAIN, type Chain } from './chain.ts';

/** What an operator may ask of a move; `verify` is forgotten once the copy was compared. */
export type MoveWish = 'switch' | 'reverse' | 'complete' | 'cancel' | 'verify';

/**
 * A move as its item has it: `move#trips#0233` of the state table. `move` is the mover's alone, `wish` what operators ask
 * for; the last move of a shard stays after it has ended. Who holds the shard, and who its copy, the topology says.
 */
export interface Move extends MovingShard {
  /** Unique to each: what is written late for one touches no other. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly step: MoveStep;
  readonly created_at: string;
  readonly switched_at: string | null;
  readonly switches: number;
  /** Of the switch that is under way: the shard's once it is done, which attempt it is, and when it was closed. */
  readonly epoch: number;
  readonly attempt: string;
  readonly closed_at: number;
  /** Of the lease of whoever wrote it last: who had it before writes nothing any more. */
  readonly token: number;
  /** Since when writers are told to keep entries of the copy. By the clock of the mover. */
  readonly announced_at: number;
  /** Of the shard, as it was read, and of the copy, as it was read back. */
  readonly source: Chain;
  readonly target: Chain;
  /** The last added id that was put into the copy: beyond `source`, while that is read once more. */
  readonly copied: number;
  /** Index tables of the copy that have all that the shard's had. */
  readonly indexed: readonly string[];
  /** By the clock of the mover; 0 before. */
  readonly indexed_at: number;
  /** What was written to the former shard's index tables alone, and is still to be brought to the shard's. */
  readonly owed: readonly string[];
  /** Where to go on with an index table. */
  readonly cursor: EntryCursor | null;
  /** Switches that came to nothing since the last one that did, and when the next is to be tried. */
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
  /** Nothing is known of what the turn before has left: it was another's, it failed, or it switched. */
  readonly isFirst: boolean;
  /** Whether another move that copies leaves the groups of this one to it. */
  readonly mayCopy: (move: Move) => boolean;
  /** Writes what was done, with the wish that is done with. Throws where others move shards by now. */
  readonly write: (move: Move, fulfilled?: MoveWish | null) => Promise<void>;
}

export interface MoveSettings {
  /** How long a turn copies before what it did is written. @default 1000 */
  readonly turnMs?: number;
  /** Of its time, how much copying takes: the rest belongs to the groups' own work. @default 0.5 */
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
  /** What is done with the table. */
  readonly task: string;
  /** Of the shard field: bytes in base64, or as MySQL writes it. */
  readonly bytes?: string;
  readonly text?: string;
  readonly row_key: string;
}

export interface MoveItem {
  readonly move: Move;
  readonly wish: MoveWish | null;
}

function keyOf({ datastore, shard }: MovingShard): string {
  return `move#${datastore}#${String(shard).padStart(4, '0')}`;
}

/** Of those that are put in first, nobody has read anything yet. */
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

/** Begins a move where the shard has none, or one that has ended. Returns the one that it has then. */
export function beginMove(table: DynamoTable, move: Move): Promise<Move> {
  return change(table, move, (seen) =>
    seen && seen.move.id === move.id ? { result: seen.move } : { move, wish: null, result: move },
  );
}

/** What an operator asks for. @throws what `check` throws */
export function wishOf(
  table: DynamoTable,
  of: MovingShard,
  check: (seen: MoveItem | undefined) => MoveWish | null,
): Promise<MoveItem | undefined> {
  return change(table, of, (seen) => {
    const wish = check(seen);
    return seen && wish ? { wish, result: { ...seen, wish } } : { result: seen };
  });
}

/**
 * What the mover has done. Nothing, and undefined, where the move is another's by now, or somebody else moves shards.
 * `fulfilled`: the wish that is done with: one that came meanwhile stays.
 */
export function writeMove(table: DynamoTable, move: Move, fulfilled?: MoveWish | null): Promise<MoveItem | undefined> {
  return change(table, move, (seen) => {
    if (!seen || seen.move.id !== move.id || seen.move.token > move.token) return { result: undefined };
    const wish = seen.wish === fulfilled ? null : seen.wish;
    return { move, wish, result: { move, wish } };
  });
}

export function hasEnded({ step }: Move): boolean {
  return step === 'completed' || step === 'cancelled';
}

interface Change<T> {
  readonly move?: Move;
  readonly wish?: MoveWish | null;
  readonly result: T;
}

function change<T>(table: DynamoTable, of: MovingShard, make: (seen: MoveItem | undefined) => Change<T>): Promise<T> {
  return changeItem(table, keyOf(of), (item): ItemChange<T> => {
    const { move, wish, result } = make(toMove(item));
    if (!move && wish === undefined) return { result };
    return {
      values: {
        ...(move && { move: { S: JSON.stringify(move) } }),
        ...(wish !== undefined && { wish: wish === null ? undefined : { S: wish } }),
      },
      result,
    };
  });
}

function toMove(item: StateItem | undefined): MoveItem | undefined {
  const text = item?.['move']?.S;
  if (text === undefined) return undefined;
  return { move: JSON.parse(text) as Move, wish: (item?.['wish']?.S as MoveWish | undefined) ?? null };
}

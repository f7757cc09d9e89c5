import { SchemalessError } from '../errors.ts';
import type { StoreContext } from '../access/context.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { runJob, type HeldJob, type JobRun } from '../dynamo/run-job.ts';
import { MOVES_LEASE } from '../granted-names.ts';
import type { Turns } from '../repeat.ts';
import { SqlError } from '../sql/client.ts';
import { readDatastore } from '../topology/dynamo-topology.ts';
import { endMoving, type MovingShard } from '../topology/moving-shards.ts';
import { hasEnded, readMove, writeMove, type Move, type MoveSettings, type MoveWork } from './move-item.ts';
import { moveTurn } from './move-turn.ts';

export interface MoveRun extends JobRun {
  readonly context: StoreContext;
  readonly topologyTable: DynamoTable;
  readonly stateTable: DynamoTable;
  readonly settings?: MoveSettings;
  /** Tells instances that the topology changed. @default they notice within a minute */
  readonly tellMoved?: () => void;
  /** Reports a move that reached another step, or failed. @default not reported */
  readonly report?: (move: Move, error?: unknown) => void;
  /** Reports the number of moves under way, every half minute while there are any. @default not reported */
  readonly measured?: (moves: number) => void;
  /** Waits for moves if there are none. @default false: it ends */
  readonly staysIdle?: boolean;
}

/** Between polls for new moves. */
const POLL_MS = 1000;
export const LEASE_MS = 10_000;
const MEASURE_MS = 30_000;
/** After a turn that failed; doubled with each, up to the last. */
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** Works on all moves until none is left, a successor came, or the deadline. A group copies one shard at a time. */
export async function runMoves(run: MoveRun): Promise<void> {
  await runJob(run, {
    lease: MOVES_LEASE,
    begin(held) {
      const { lease, signal } = held;
      const mover: Mover = { run, token: lease.token, moves: new Map(), signal };
      held.work('look', {
        turn: movesFound(mover, held),
        everyMs: run.settings?.pollMs ?? POLL_MS,
        failed: () => undefined,
      });
    },
  });
}

/** Returns a poll for moves, which begins work on each. It ends if there are none. */
function movesFound(mover: Mover, held: HeldJob): () => Promise<'over' | void> {
  const { run, moves } = mover;
  let measuredAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const found = await movingShards(run).catch(() => []);
    for (const one of found) held.work(nameOf(one), workOnMove(mover, one));
    const underWay = held.going().length - 1;
    for (const name of moves.keys()) if (!held.going().includes(name)) moves.delete(name);
    if (performance.now() - measuredAt >= MEASURE_MS) {
      measuredAt = performance.now();
      if (underWay > 0) run.measured?.(underWay);
    }
    return found.length === 0 && underWay === 0 && run.staysIdle !== true ? 'over' : undefined;
  };
}

const nameOf = ({ datastore, shard }: MovingShard): string => `${datastore}/${shard}`;

/** A shard that is being moved, and by which move. */
type MovingOne = MovingShard & { readonly id: string };

/** Every shard that has a copy, or is to get one. Past every cache: moves are few, and the topology is small. */
async function movingShards({ context, topologyTable }: MoveRun): Promise<readonly MovingOne[]> {
  const found: MovingOne[] = [];
  for (const datastore of await context.topology.datastores()) {
    const homes = (await readDatastore(topologyTable, datastore))?.homes ?? [];
    for (const [shard, { copy }] of homes.entries()) if (copy) found.push({ datastore, shard, id: copy.move });
  }
  return found;
}

/** The process that works on moves while its lease lasts. */
interface Mover {
  readonly run: MoveRun;
  readonly token: number;
  /** As they were written last; without those that failed, until they are tried again. */
  readonly moves: Map<string, Move>;
  readonly signal: AbortSignal;
}

/** Works on one move until it ends. Failed turns are retried at growing intervals. */
function workOnMove({ run, token, moves, signal }: Mover, of: MovingOne): Turns {
  const name = nameOf(of);
  let isFirst = true;
  const over = (): 'over' => {
    moves.delete(name);
    return 'over';
  };
  async function turn(): Promise<number | 'over'> {
    const item = await readMove(run.stateTable, of);
    // The move was begun, but not written yet.
    if (!item || item.move.id !== of.id) return over();
    const before = item.move;
    if (hasEnded(before)) {
      // The mover ended before it recorded the end.
      await endMoving(run.topologyTable, before);
      return over();
    }
    moves.set(name, before);
    const work: MoveWork = {
      settings: {},
      tellMoved: () => undefined,
      ...run,
      signal,
      isFirst,
      mayCopy: (move) => isNext(move, moves),
      async write(move, fulfilled) {
        if (!(await writeMove(run.stateTable, { ...move, token }, fulfilled)))
          throw new SchemalessError('unavailable', 'another moves shards by now');
        moves.set(name, move);
        if (move.failures > before.failures) run.report?.(move, new Error(move.last_error ?? 'not switched'));
        else if (move.step !== before.step || move.last_error !== before.last_error) run.report?.(move);
      },
    };
    const pauseMs = await moveTurn(work, before, item.desired);
    if (pauseMs === undefined) return over();
    const after = moves.get(name) ?? before;
    isFirst = after.step !== before.step || after.switches !== before.switches || after.failures !== before.failures;
    return pauseMs;
  }
  return {
    turn: () =>
      turn().catch(async (error: unknown) => {
        const move = moves.get(name);
        isFirst = true;
        // It keeps no other from copying while it waits.
        moves.delete(name);
        if (move) run.report?.(move, error);
        if (move && (error instanceof SqlError || error instanceof SchemalessError))
          await note(run, token, of, error).catch(() => undefined);
        throw error;
      }),
    everyMs: 0,
    failed: () => undefined,
    pauses: { firstMs: FIRST_PAUSE_MS, longestMs: LONGEST_PAUSE_MS },
  };
}

/** Records the error of a move for its operator: the rest stays as it was written last. */
async function note(run: MoveRun, token: number, of: MovingOne, { message }: Error): Promise<void> {
  const item = await readMove(run.stateTable, of);
  if (item?.move.id === of.id && item.move.last_error !== message)
    await writeMove(run.stateTable, { ...item.move, token, last_error: message.slice(0, 500) });
}

const COPYING: readonly string[] = ['copying', 'switching'];

/** No other move that copies has one of its groups, and none that waits for them came first. */
function isNext(move: Move, moves: ReadonlyMap<string, Move>): boolean {
  for (const other of moves.values()) {
    if (other.id === move.id || (other.switches > 0 && other.step !== 'switching')) continue;
    const sharesGroup = [other.from, other.to].some((group) => group === move.from || group === move.to);
    const isBefore = other.step === 'waiting' && nameAndTime(other) < nameAndTime(move);
    if (sharesGroup && (COPYING.includes(other.step) || isBefore)) return false;
  }
  return true;
}

function nameAndTime(move: Move): string {
  return `${move.created_at} ${nameOf(move)}`;
}

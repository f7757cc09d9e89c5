import type { ShardHead } from '../contract/datastore.ts';
import type { MoveOperations, MoveStatus } from '../api/moves.ts';
import { SchemalessError, invalidField } from '../errors.ts';
import { pauseFor } from '../pause-for.ts';

type Moving = Pick<MoveOperations, 'listMoves' | 'getMove' | 'createMove'>;

/** Returns the group of each shard: the present one, or the one after its move ends. */
export async function placedShards(
  operations: Pick<MoveOperations, 'listMoves'>,
  heads: readonly ShardHead[],
): Promise<readonly PlacedShard[]> {
  const underWay = new Map((await operations.listMoves()).moves.map((status) => [status.shard, status]));
  return heads.map(({ shard, group }) => {
    const status = underWay.get(shard);
    return { shard, group: status && !staysHere(status) ? status.to : group, isMoving: status !== undefined };
  });
}

/** A switched shard has arrived; a dropped copy never becomes the shard. */
function staysHere({ switches, wanted, step }: MoveStatus): boolean {
  return switches > 0 || wanted === 'drop' || step === 'dropping';
}

interface RebalanceOptions {
  /** Seconds until the copy that a switch leaves behind is dropped. @default 3600 */
  readonly completeAfterSeconds?: number | undefined;
  /** @default 1000 */
  readonly pollMs?: number | undefined;
  /** Ends the run; moves that were begun go on. */
  readonly signal: AbortSignal;
  /** Reports each shard that arrived, and each error of a move, once. */
  readonly report?: (shard: number, what: string) => void;
}

/** Moves that wait or copy at once: more would only poll, since a group copies one shard at a time. */
const AT_ONCE = 4;

/**
 * Begins the moves of a plan, a few at a time, and waits until each shard has moved or will not. Retries while the API
 * is unavailable. After it was interrupted, a new plan goes on from where the shards are. Returns what became of the
 * moves:
 * not `complete` if the signal ended the run. Throws SchemalessError for what a retry would not help.
 */
export async function rebalance(
  operations: Moving,
  plan: readonly PlannedMove[],
  { completeAfterSeconds = 3600, pollMs = 1000, signal, report = () => undefined }: RebalanceOptions,
) {
  const waiting = [...plan];
  const begun = new Map<number, PlannedMove>();
  const notMoved: { shard: number; why: string }[] = [];
  const errors = new Map<number, string>();
  let moved = 0;

  async function begin(): Promise<void> {
    for (let next = waiting[0]; next && begun.size < AT_ONCE && !signal.aborted; next = waiting[0]) {
      const { shard, to } = next;
      try {
        await operations.createMove({ shard, to, switch: true, complete_after_seconds: completeAfterSeconds });
        begun.set(shard, next);
      } catch (error) {
        if (!(error instanceof SchemalessError) || error.code !== 'move_refused') throw error;
        notMoved.push({ shard, why: error.message });
      }
      waiting.shift();
    }
  }

  async function poll(): Promise<void> {
    const underWay = new Map((await operations.listMoves()).moves.map((status) => [status.shard, status]));
    for (const [shard, { to }] of begun) {
      const status = underWay.get(shard) ?? (await operations.getMove({ shard }));
      const { last_error: error } = status;
      if (error !== null && errors.get(shard) !== error) report(shard, error);
      errors.set(shard, error ?? '');
      // A switch exchanges both sides.
      if (status.switches > 0 && status.from === to) {
        moved += 1;
        report(shard, `is on ${to}: ${moved} of ${plan.length} shards moved`);
      } else if (status.switches > 0 || isGivenUp(status)) notMoved.push({ shard, why: 'cancelled or taken back' });
      else continue;
      begun.delete(shard);
    }
  }

  while (!signal.aborted && waiting.length + begun.size > 0) {
    try {
      await begin();
      await poll();
    } catch (error) {
      if (signal.aborted) break;
      if (!(error instanceof SchemalessError) || error.retry !== 'later') throw error;
    }
    if (waiting.length + begun.size > 0) await pauseFor(pollMs, signal);
  }
  return { moves: plan.length, moved, not_moved: notMoved, complete: waiting.length + begun.size === 0 };
}

function isGivenUp({ wanted, step }: MoveStatus): boolean {
  return wanted === 'drop' || step === 'dropping' || step === 'completed' || step === 'cancelled';
}

/** A shard as a plan sees it. */
export interface PlacedShard {
  readonly shard: number;
  /** The group that holds it, or will hold it once its move ends. */
  readonly group: string;
  /** A move is under way: the shard is not planned again. */
  readonly isMoving: boolean;
}

/** A shard that should be on another group. */
export interface PlannedMove {
  readonly shard: number;
  readonly from: string;
  readonly to: string;
}

/**
 * Plans the fewest moves after which each group holds equally many shards, or one more than others. Retired groups hold
 * none. The same shards and groups give the same plan. `groups`: all that there are. Throws SchemalessError
 * `invalid_field` if a retired group does not exist, or all groups are retired.
 */
export function planMoves(
  shards: readonly PlacedShard[],
  groups: readonly string[],
  retired: readonly string[] = [],
): readonly PlannedMove[] {
  const unknown = retired.find((group) => !groups.includes(group));
  if (unknown !== undefined) throw invalidField('retire', `one of ${groups.join(', ')}`, unknown);
  const staying = groups.filter((group) => !retired.includes(group));
  if (staying.length === 0) throw invalidField('retire', 'a group left that holds shards', retired.join(', '));
  const held = new Map(groups.map((group): [string, PlacedShard[]] => [group, []]));
  for (const one of shards) held.get(one.group)?.push(one);
  const countOf = (group: string): number => held.get(group)?.length ?? 0;
  const all = groups.reduce((sum, group) => sum + countOf(group), 0);
  // The fullest groups keep what cannot be divided: that moves least.
  const byCount = staying.toSorted((one, other) => countOf(other) - countOf(one) || (one < other ? -1 : 1));
  const target = (group: string): number => {
    const place = byCount.indexOf(group);
    return place < 0 ? 0 : Math.floor(all / staying.length) + (place < all % staying.length ? 1 : 0);
  };
  const excess = new Map(groups.map((group) => [group, countOf(group) - target(group)]));
  const movable = new Map([...held].map(([group, ofGroup]) => [group, ofGroup.filter(({ isMoving }) => !isMoving)]));
  const moves: PlannedMove[] = [];
  for (;;) {
    const givers = groups.filter((group) => excessOf(group) > 0 && (movable.get(group)?.length ?? 0) > 0);
    const [from, to] = [most(givers, excessOf), most(staying, (group) => -excessOf(group))];
    const one = from === undefined ? undefined : movable.get(from)?.pop();
    if (from === undefined || to === undefined || !one || excessOf(to) >= 0) return moves;
    excess.set(from, excessOf(from) - 1);
    excess.set(to, excessOf(to) + 1);
    moves.push({ shard: one.shard, from, to });
  }

  function excessOf(group: string): number {
    return excess.get(group) ?? 0;
  }
}

/** The group with the highest value, of equals the first by name. */
function most(groups: readonly string[], value: (group: string) => number): string | undefined {
  return groups.toSorted((one, other) => value(other) - value(one) || (one < other ? -1 : 1))[0];
}

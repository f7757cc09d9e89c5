import type { ShardHead } from '../contract/datastore.ts';
import type { MoveOperations, MoveStatus } from '../api/moves.ts';
import { SchemalessError } from '../errors.ts';
import { pauseFor } from '../pause-for.ts';
import type { PlacedShard, PlannedMove } from './plan-moves.ts';

type Moving = Pick<MoveOperations, 'listMoves' | 'getMove' | 'createMove'>;

/** Where each shard is, or will be once its move ends. */
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

interface RebalanceReport {
  readonly moves: number;
  readonly moved: number;
  readonly not_moved: readonly { readonly shard: number; readonly why: string }[];
  /** False if the signal ended the run. */
  readonly complete: boolean;
}

/** Moves that wait or copy at once: more would only poll, since a group copies one shard at a time. */
const AT_ONCE = 4;

/**
 * Begins the moves of a plan, a few at a time, and waits until each shard has moved or will not. Retries while the API
 * is unavailable. After it was interrupted, a new plan goes on from where the shards are. Throws SchemalessError for
 * what a retry would not help.
 */
export async function rebalance(
  operations: Moving,
  plan: readonly PlannedMove[],
  { completeAfterSeconds = 3600, pollMs = 1000, signal, report = () => undefined }: RebalanceOptions,
): Promise<RebalanceReport> {
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

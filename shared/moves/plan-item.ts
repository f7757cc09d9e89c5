import type { MoveStatus } from '../contract/move-operations.ts';
import type { PlannedMove } from '../contract/shard-plan.ts';

/** A move of the plan, and what became of it so far. */
export interface PlanItem {
  readonly planned: PlannedMove;
  /** Of its move, once it was begun. */
  status?: MoveStatus;
  /** Why it is not moved: that is its end. */
  refused?: string;
}

/** The shard is where the plan wants it. */
export function isMoved({ planned, status }: PlanItem): boolean {
  return status !== undefined && status.switches > 0 && status.from === planned.to;
}

/** Why it is not moved, and will not be; undefined where it may be yet. */
export function whyNot(item: PlanItem): string | undefined {
  const { refused, status } = item;
  if (refused !== undefined) return refused;
  if (!status || isMoved(item)) return undefined;
  if (status.switches > 0) return 'somebody took it back';
  const isGivenUp = status.wanted === 'drop' || status.step === 'dropping' || hasEnded(status);
  return isGivenUp ? 'somebody cancelled it' : undefined;
}

/** It is moved, or will not be. */
export function isOver(item: PlanItem): boolean {
  return isMoved(item) || whyNot(item) !== undefined;
}

/** Nothing becomes of it any more. */
export function hasEnded({ step }: MoveStatus): boolean {
  return step === 'completed' || step === 'cancelled';
}

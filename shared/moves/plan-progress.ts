import { isMoved, isOver, type PlanItem } from './plan-item.ts';

/** How far a plan is. Nothing counts as done but shards that are where the plan wants them. */
export interface PlanProgress {
  readonly moves: number;
  readonly moved: number;
  /** Moves that were begun and have not switched yet. */
  readonly under_way: number;
  /** Of the shards. */
  readonly bytes: number;
  readonly bytes_moved: number;
  /** 0 to 100, rounded down: 100 is all of it. */
  readonly percent: number;
  /** Of shards that were moved, since the run began. */
  readonly bytes_per_second: number;
  /** Until the last shard is moved, by that; null where nobody knows. */
  readonly eta_seconds: number | null;
}

/** @param seconds since the run began */
export function planProgress(items: readonly PlanItem[], seconds: number): PlanProgress {
  const moved = items.filter(isMoved);
  const [bytes, bytes_moved] = [bytesOf(items), bytesOf(moved)];
  const left = bytesOf(items.filter((item) => !isOver(item)));
  const perSecond = seconds > 0 ? bytes_moved / seconds : 0;
  // Shards that take nothing count, too.
  const share = items.length === 0 ? 1 : bytes === 0 ? moved.length / items.length : bytes_moved / bytes;
  const isWhole = moved.length === items.length;
  return {
    moves: items.length,
    moved: moved.length,
    under_way: items.filter((item) => item.status && !isOver(item)).length,
    bytes,
    bytes_moved,
    percent: isWhole ? 100 : Math.min(99.9, Math.floor(share * 1000) / 10),
    bytes_per_second: Math.round(perSecond),
    eta_seconds: left === 0 ? (items.every(isOver) ? 0 : null) : perSecond === 0 ? null : Math.round(left / perSecond),
  };
}

function bytesOf(items: readonly PlanItem[]): number {
  return items.reduce((sum, { planned }) => sum + planned.bytes, 0);
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { NewCell, PutResult } from '../../shared/cell.ts';

interface Confirming {
  /** Sends cells, and gives an outcome for each in its place. */
  readonly send: (cells: readonly NewCell[]) => Promise<readonly PutResult[]>;
  /** Told of every cell once: with what confirms it, or with the last `unavailable`. */
  readonly answered: (cell: NewCell, result: PutResult) => void;
  /** Told how many cells are sent again. */
  readonly again?: (cells: number) => void;
  /** How long a cell that is answered `unavailable` is sent again. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

const PAUSE_MS = 200;

/** Writes cells, and repeats those that are not confirmed. Every put can be repeated safely. */
export async function writeUntilConfirmed(
  cells: readonly NewCell[],
  { send, answered, again, withinMs, signal }: Confirming,
): Promise<void> {
  const end = Date.now() + withinMs;
  for (let left = cells; left.length > 0;) {
    const results = await send(left);
    const unconfirmed: NewCell[] = [];
    for (const [position, cell] of left.entries()) {
      const result = results[position];
      if (result === undefined) throw new Error(`batch-put: wanted ${left.length} results, got ${results.length}`);
      if (result.outcome === 'unavailable' && Date.now() < end) unconfirmed.push(cell);
      else answered(cell, result);
    }
    left = unconfirmed;
    if (left.length === 0) return;
    again?.(left.length);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/**
 * Why a cell was not written by its put, which is no fault of what is read afterwards; undefined where the put was
 * acknowledged.
 */
export function notWritten(result: PutResult, withinMs: number): string | undefined {
  if (result.outcome === 'conflict') return 'another body is at this address';
  return result.outcome === 'unavailable' ? `not confirmed within ${withinMs / 1000} s: ${result.reason}` : undefined;
}

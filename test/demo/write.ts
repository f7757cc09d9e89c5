import type { NewCell, PutResult } from '../../shared/cell.ts';
import { tryPutAll } from '../../shared/client/put-all.ts';
import { CONCURRENCY, type Checking } from './recheck.ts';

type Outcome = PutResult['outcome'];

/** The cells that a put acknowledged, and how. */
export type Acknowledged = ReadonlyMap<NewCell, Outcome>;

/** Tries of a cell that is not confirmed: with pauses of two seconds, about a minute and a half. */
const TRIES = 40;

interface Writing extends Checking {
  /** How often an unconfirmed cell is sent. @default 40 */
  readonly tries?: number | undefined;
}

/** Writes cells. Counts unconfirmed ones as wrong, and returns the others, which later checks read back. */
export async function writeCells(
  cells: readonly NewCell[],
  { store, differences, signal, tries = TRIES }: Writing,
): Promise<Acknowledged> {
  const acknowledged = new Map<NewCell, Outcome>();
  const { undone } = await tryPutAll(store, cells, {
    concurrency: CONCURRENCY,
    tries,
    signal,
    onResult({ position, result }) {
      const isAcknowledged = result !== undefined && /^(?:stored|stored_before|buffered)$/u.test(result.outcome);
      if (isAcknowledged) acknowledged.set(cells[position] as NewCell, result.outcome);
    },
  });
  signal.throwIfAborted();
  for (const { cell, error } of undone) differences.fail(cell, `not written: ${error.code}: ${error.message}`);
  return acknowledged;
}

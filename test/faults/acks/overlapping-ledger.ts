import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { Ledger, type Written } from '../load/ledger.ts';
import { addressOf } from './stored-cells.ts';

/**
 * A ledger for calls that overlap: who stored a cell may hear of it later than those who were told that it was there.
 * What was said when is for `judgeAnswers`.
 */
export class OverlappingLedger {
  readonly #noted: (readonly [NewCell, PutResult])[] = [];
  readonly #confirmed = new Set<string>();

  /** Cells confirmed so far. */
  get size(): number {
    return this.#confirmed.size;
  }

  note(cell: NewCell, result: PutResult): void {
    this.#noted.push([cell, result]);
    if (result.outcome !== 'unavailable') this.#confirmed.add(addressOf(cell));
  }

  written(): Written {
    const ledger = new Ledger();
    const isStored = ([, { outcome }]: readonly [NewCell, PutResult]): boolean => outcome === 'stored';
    for (const [cell, result] of [...this.#noted.filter(isStored), ...this.#noted.filter((noted) => !isStored(noted))]) ledger.note(cell, result);
    return ledger.written();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { ParkedCell } from '../../../shared/api/trigger-shapes.ts';
import type { CellAddress } from '../../../shared/cell.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import { getAll } from '../../../shared/client/get-all.ts';
import type { DemoStore } from '../trips/demo-store.ts';

export const TRIGGER = 'bill_rider';

interface BillWatchOptions {
  readonly store: Pick<DemoStore, 'batchGet' | 'listParkedCells' | 'retryParkedCells'> & Pick<SchemalessClient, 'with'>;
  /** How long no trip may be billed while some are left. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

/** Rows of one poll; the others come next. To poll all of them each time took a tenth of the store's capacity. */
const ROWS_A_POLL = 200;
const PAUSE_MS = 250;
const PARKED_EVERY_MS = 1000;

/** Watches the trigger bill trips: which are billed, and which cells were parked on the way. */
export class BillWatch {
  /** Cells that were parked, by row key and ref key; they are sent again. */
  readonly parked = new Map<string, ParkedCell>();
  readonly #options: BillWatchOptions;
  readonly #waiting = new Set<string>();
  #checkedParked = 0;

  constructor(options: BillWatchOptions) {
    this.#options = options;
  }

  /** Records an acknowledged BASE cell, whose trip is to be billed. */
  acknowledged({ row_key }: Pick<CellAddress, 'row_key'>): void {
    this.#waiting.add(row_key);
  }

  /** Waits until all trips are billed, or none was for `patienceMs`. Returns the row keys of the unbilled ones. */
  async finish(): Promise<readonly string[]> {
    const { patienceMs, signal } = this.#options;
    let before = this.#waiting.size;
    // Clock: the limit only ends a hang.
    for (let end = Date.now() + patienceMs; this.#waiting.size > 0;) {
      await this.#poll();
      await this.#retryParked();
      // Clock: as above.
      if (this.#waiting.size < before) end = Date.now() + patienceMs;
      else if (Date.now() > end) break; // Clock: as above.
      before = this.#waiting.size;
      // Clock: the pause between two polls.
      if (before > 0) await sleep(PAUSE_MS, undefined, { signal });
    }
    return [...this.#waiting];
  }

  async #poll(): Promise<void> {
    const { store, signal } = this.#options;
    const rows = [...this.#waiting].slice(0, ROWS_A_POLL);
    const keys = rows.map((row_key) => ({ row_key, column_name: 'STATUS' }));
    const items = await getAll(store, keys, { signal });
    for (const [position, row_key] of rows.entries()) {
      this.#waiting.delete(row_key);
      const item = items[position];
      // To the end, so that slow trips do not delay the others.
      if (!item || !('body' in item) || Object(item.body).is_completed !== true) this.#waiting.add(row_key);
    }
  }

  /** Retries the parked cells of these trips. */
  async #retryParked(): Promise<void> {
    const { store } = this.#options;
    // Clock: polls parked cells less often.
    if (Date.now() < this.#checkedParked + PARKED_EVERY_MS) return;
    // Clock: as above.
    this.#checkedParked = Date.now();
    const { cells } = await store.listParkedCells({ trigger: TRIGGER, limit: 1000 });
    const ours = cells.filter((cell) => this.#waiting.has(cell.row_key));
    for (const cell of ours) this.parked.set(`${cell.row_key}/${cell.ref_key}`, cell);
    const idle = ours.filter(({ retry }) => retry === null);
    if (idle.length > 0)
      await store.retryParkedCells({
        trigger: TRIGGER,
        cells: idle.map(({ shard, added_id }) => ({ shard, added_id })),
      });
  }
}

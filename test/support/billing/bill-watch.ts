import { setTimeout as sleep } from 'node:timers/promises';
import type { CellAddress, Json } from '../../../shared/cell.ts';
import type { ParkedCell } from '../../../shared/api/trigger-shapes.ts';
import type { DemoStore } from '../trips/demo-store.ts';
import { inChunks } from '../parallel.ts';
import { persist } from '../persist.ts';
import type { Progress } from '../progress.ts';

export const TRIGGER = 'bill_rider';

export interface BillWatchOptions {
  readonly store: DemoStore;
  /** How long no trip may be billed while some are left. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

const KEYS_A_REQUEST = 100;
/** Looked at in one go: the others come next. To look at all of them each time took a tenth of what the store can do. */
const ROWS_A_LOOK = 200;
const PAUSE_MS = 250;
/** While cells are still written, parked ones wait for company, as far as the trigger does not stop. */
const PARKED_TO_RETRY = 20;
const PARKED_EVERY_MS = 1000;

/** Watches the trigger bill trips: which are billed, and which cells were parked on the way. */
export class BillWatch {
  /** Cells that were parked, by row key and ref key; they are sent again. */
  readonly parked = new Map<string, ParkedCell>();
  billed = 0;
  readonly #options: BillWatchOptions;
  readonly #trips = new Set<string>();
  readonly #waiting = new Set<string>();
  #lookedAtParked = 0;

  constructor(options: BillWatchOptions) {
    this.#options = options;
  }

  /** A BASE cell was acknowledged: its trip is to be billed. */
  acknowledged({ row_key }: Pick<CellAddress, 'row_key'>): void {
    if (!this.#trips.has(row_key)) this.#waiting.add(row_key);
    this.#trips.add(row_key);
  }

  /** Watches while something else is done. */
  async during<Result>(work: () => Promise<Result>, progress: Progress): Promise<Result> {
    const over = new AbortController();
    const watching = this.#watchUntil(over.signal, progress);
    try {
      return await work();
    } finally {
      over.abort();
      await watching;
    }
  }

  /** Waits until all trips are billed. Returns the row keys of those that were not, once none was for too long. */
  async finish(progress: Progress): Promise<readonly string[]> {
    const { patienceMs, signal } = this.#options;
    progress.advance(this.billed);
    let before = this.billed;
    // Clock: the limit only ends a hang.
    for (let end = Date.now() + patienceMs; this.#waiting.size > 0;) {
      await this.#look();
      await this.#retryParked(1);
      progress.advance(this.billed - before);
      // Clock: as above.
      if (this.billed > before) end = Date.now() + patienceMs;
      else if (Date.now() > end) break; // Clock: as above.
      before = this.billed;
      // Clock: the pause between two polls.
      if (this.#waiting.size > 0) await sleep(PAUSE_MS, undefined, { signal });
    }
    return [...this.#waiting];
  }

  async #watchUntil(over: AbortSignal, progress: Progress): Promise<void> {
    const { signal } = this.#options;
    while (!over.aborted && !signal.aborted) {
      // What is wrong with the store, the work meanwhile meets too; whether all are billed is asked again in the end.
      await this.#look()
        .then(() => this.#retryParked(PARKED_TO_RETRY))
        .catch(() => undefined);
      progress.note(this.#note());
      // Clock: the pause between two polls.
      await sleep(PAUSE_MS, undefined, { signal: AbortSignal.any([over, signal]) }).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { store, signal } = this.#options;
    const rows = [...this.#waiting].slice(0, ROWS_A_LOOK);
    for (const chunk of inChunks(rows, KEYS_A_REQUEST)) {
      const items = await persist(signal, () =>
        store.batchGet(chunk.map((row_key) => ({ row_key, column_name: 'STATUS' }))),
      );
      for (const [position, row_key] of chunk.entries()) {
        this.#waiting.delete(row_key);
        const item = items[position];
        if (item && 'body' in item && isCompleted(item.body)) this.billed += 1;
        // To the end, so that those that take long hold up nobody's look.
        else this.#waiting.add(row_key);
      }
    }
  }

  /** Wants the parked cells of these trips to be sent again, where there are so many. */
  async #retryParked(least: number): Promise<void> {
    const { store, signal } = this.#options;
    // Clock: polls parked cells less often.
    if (Date.now() < this.#lookedAtParked + PARKED_EVERY_MS) return;
    // Clock: as above.
    this.#lookedAtParked = Date.now();
    const { cells } = await persist(signal, () => store.listParkedCells({ trigger: TRIGGER, limit: 1000 }));
    const ours = cells.filter((cell) => this.#waiting.has(cell.row_key));
    for (const cell of ours) this.parked.set(addressOf(cell), cell);
    const idle = ours.filter(({ retry }) => retry === null);
    if (idle.length < least) return;
    await persist(signal, () =>
      store.retryParkedCells({
        trigger: TRIGGER,
        cells: idle.map(({ shard, added_id }) => ({ shard, added_id })),
      }),
    );
  }

  #note(): string {
    return `${this.billed.toLocaleString('en-US')} billed${this.parked.size > 0 ? `, ${this.parked.size} parked on the way` : ''}`;
  }
}

function addressOf({ row_key, ref_key }: Pick<CellAddress, 'row_key' | 'ref_key'>): string {
  return `${row_key}/${ref_key}`;
}

function isCompleted(body: Json): boolean {
  return Object(body).is_completed === true;
}

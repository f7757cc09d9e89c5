import type { CellAddress, NewCell } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { DemoStore } from '../../support/trips/demo-store.ts';
import type { Differences } from '../differences.ts';
import { persist } from '../../support/persist.ts';
import type { Progress } from '../../support/progress.ts';
import { BillWatch, TRIGGER, type BillWatchOptions } from '../../support/billing/bill-watch.ts';
import { checkBills } from './check-bills.ts';

export interface DemoBillingOptions extends BillWatchOptions {
  readonly concurrency: number;
  /** How long a bill may take to be readable, once its trip is billed. */
  readonly readableWithinMs: number;
  readonly differences: Differences;
}

/** How the trigger billed what the demo wrote. */
export interface BillingFindings {
  /** Trips billed exactly once. */
  readonly billed: number;
  /** How many of them needed how many attempts. */
  readonly attempts: ReadonlyMap<number, number>;
  /** Cells that were parked on the way, and sent again. */
  readonly parked: number;
  /** From a put's answer to the start of the function, while many trips were written at a time. */
  readonly loadedLagMs: readonly number[];
  /** The same while trips were written one after another. */
  readonly calmLagMs: readonly number[];
}

/** Whether the store has the trigger that bills trips. */
export async function hasTrigger(store: DemoStore, signal: AbortSignal): Promise<boolean> {
  try {
    await persist(signal, () => store.trigger(TRIGGER, { limit: 1 }));
    return true;
  } catch (error) {
    if (error instanceof SchemalessError && error.code === 'unknown_trigger') return false;
    throw error;
  }
}

/** Follows the trigger through the two parts of the demo: many trips at a time, and one after another. */
export class DemoBilling {
  readonly loaded: BillWatch;
  readonly #calm: BillWatch;
  readonly #samples: NewCell[] = [];
  readonly #options: DemoBillingOptions;

  constructor(options: DemoBillingOptions) {
    this.#options = options;
    this.loaded = new BillWatch(options);
    this.#calm = new BillWatch(options);
  }

  /** A BASE cell of the many was answered. */
  acknowledged(cell: CellAddress, stored: boolean): void {
    if (cell.column_name === 'BASE') this.loaded.acknowledged(cell, stored);
  }

  /** One of the trips written one after another was answered. */
  sampled(trip: NewCell): void {
    this.#samples.push(trip);
    this.#calm.acknowledged(trip, true);
  }

  /** Waits until all of the many are billed. Counts those that are not as wrong, with the trigger's state. */
  async finish(watch: 'loaded' | 'calm', progress: Progress): Promise<void> {
    const { store, signal, differences } = this.#options;
    const [first, ...others] = await (watch === 'loaded' ? this.loaded : this.#calm).finish(progress);
    if (first === undefined) return;
    const { state, reason, parked, lag } = await persist(signal, () => store.trigger(TRIGGER, { limit: 1 }));
    differences.fail(TRIGGER, `${others.length + 1} trips are not billed, ${first} for one; it is ${state}${reason === null ? '' : ` (${reason})`}, ${lag.cells} cells behind, ${parked} parked`);
  }

  /** Checks every bill. */
  async findings(bases: Iterable<NewCell>): Promise<BillingFindings> {
    const { store, concurrency, signal, differences, readableWithinMs: patienceMs } = this.#options;
    const check = { concurrency, patienceMs, signal, differences };
    const attempts = await checkBills(store, bases, check);
    const samples = await checkBills(store, this.#samples, check);
    const trips = (counts: ReadonlyMap<number, number>): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
    return {
      billed: trips(attempts) + trips(samples),
      attempts: new Map([...new Set([...attempts.keys(), ...samples.keys()])].sort((a, b) => a - b).map((attempt) => [attempt, (attempts.get(attempt) ?? 0) + (samples.get(attempt) ?? 0)])),
      parked: this.loaded.parked.size + this.#calm.parked.size,
      loadedLagMs: await this.loaded.lags(),
      calmLagMs: await this.#calm.lags(),
    };
  }
}

import type { CellAddress, NewCell } from '../../../shared/cell.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { DemoStore } from '../../support/trips/demo-store.ts';
import type { Differences } from '../differences.ts';
import { persist } from '../../support/persist.ts';
import type { Progress } from '../../support/progress.ts';
import { BillWatch, TRIGGER, type BillWatchOptions } from '../../support/billing/bill-watch.ts';
import { checkBills } from './check-bills.ts';

interface DemoBillingOptions extends BillWatchOptions {
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
  /** Milliseconds from a trip's first cell to what its first attempt wrote. */
  readonly lagsMs: readonly number[];
}

export async function hasTrigger(store: DemoStore, signal: AbortSignal): Promise<boolean> {
  try {
    await persist(signal, () => store.getTrigger({ trigger: TRIGGER, limit: 1 }));
    return true;
  } catch (error) {
    if (error instanceof SchemalessError && error.code === 'unknown_trigger') return false;
    throw error;
  }
}

/** Follows the trigger while the demo writes, and checks its bills. */
export class DemoBilling {
  readonly watch: BillWatch;
  readonly #options: DemoBillingOptions;

  constructor(options: DemoBillingOptions) {
    this.#options = options;
    this.watch = new BillWatch(options);
  }

  acknowledged(cell: CellAddress): void {
    if (cell.column_name === 'BASE') this.watch.acknowledged(cell);
  }

  /** Waits until all trips are billed. Counts those that are not as wrong, with the trigger's state. */
  async finish(progress: Progress): Promise<void> {
    const { store, signal, differences } = this.#options;
    const [first, ...others] = await this.watch.finish(progress);
    if (first === undefined) return;
    const { state, reason, parked, lag } = await persist(signal, () =>
      store.getTrigger({ trigger: TRIGGER, limit: 1 }),
    );
    differences.fail(
      TRIGGER,
      `${others.length + 1} trips are not billed, ${first} for one; it is ${state}${reason === null ? '' : ` (${reason})`}, ${lag.cells} cells behind, ${parked} parked`,
    );
  }

  /** Checks every bill. */
  async findings(bases: Iterable<NewCell>): Promise<BillingFindings> {
    const { store, concurrency, signal, differences, readableWithinMs: patienceMs } = this.#options;
    const { attempts, lagsMs } = await checkBills(store, bases, { concurrency, patienceMs, signal, differences });
    return {
      billed: [...attempts.values()].reduce((sum, count) => sum + count, 0),
      attempts: new Map([...attempts].sort(([one], [other]) => one - other)),
      parked: this.watch.parked.size,
      lagsMs,
    };
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { Cell, Json, NewCell } from '../../../shared/cell.ts';
import type { DemoStore } from '../../support/trips/demo-store.ts';
import type { Differences } from '../differences.ts';
import { persist } from '../../support/persist.ts';
import { recheck, type Wrong } from '../recheck.ts';

interface BillCheck {
  readonly concurrency: number;
  /** How long a bill may take to be readable. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly differences: Differences;
}

/** What a bill says, in STATUS and in the card service's books. */
interface Bill {
  readonly receipt?: Json;
  readonly amount?: Json;
  readonly currency?: Json;
}

/** Of the trips that were billed exactly once. */
interface CheckedBills {
  /** How many needed how many attempts. */
  readonly attempts: ReadonlyMap<number, number>;
  /** Milliseconds from a trip's first cell to what its first attempt wrote, by the servers' clocks. */
  readonly lagsMs: readonly number[];
}

/**
 * Compares each trip's STATUS with the card service's books: one charge of its fare, and a STATUS that says so, after
 * none but declined attempts.
 *
 * @param bases the BASE cells of the trips, one for each
 */
export async function checkBills(
  store: DemoStore,
  bases: Iterable<NewCell>,
  { differences, ...looking }: BillCheck,
): Promise<CheckedBills> {
  const attempts = new Map<number, number>();
  const lagsMs: number[] = [];
  const check = async ([trip]: readonly NewCell[]): Promise<readonly Wrong<NewCell>[]> => {
    if (trip === undefined) return [];
    const { row_key, body } = trip;
    const cells = async (column_name: string, limit = 1000): Promise<readonly Cell[]> =>
      (await persist(looking.signal, () => store.versions({ row_key, column_name }, { order: 'asc', limit }))).cells;
    const bodies = (some: readonly Cell[]): readonly Json[] => some.map((cell) => cell.body);
    const [written, tried, charged] = [await cells('BASE', 1), await cells('STATUS'), await cells('CHARGE')];
    const [statuses, charges] = [bodies(tried), bodies(charged)];
    const wrong = wrongBill(Object(body).fare?.total, statuses, charges);
    if (wrong !== undefined) return [{ item: trip, what: wrong }];
    differences.pass();
    const attempt = Number(Object(statuses.at(-1)).attempt);
    attempts.set(attempt, (attempts.get(attempt) ?? 0) + 1);
    lagsMs.push(timeOf(tried[0]) - timeOf(written[0]));
    return [];
  };
  for (const { item, what } of await recheck(bases, check, { ...looking, size: 1 }))
    differences.fail(`trip ${item.row_key}`, what);
  return { attempts, lagsMs };
}

function timeOf(cell: Cell | undefined): number {
  return Date.parse(cell?.created_at ?? '');
}

/** What is wrong with how a trip was billed; undefined when nothing is. */
function wrongBill(total: Json, statuses: readonly Json[], charges: readonly Json[]): string | undefined {
  const [charge] = charges;
  if (charges.length !== 1 || charge === undefined) return `charged ${charges.length} times, wanted once`;
  const first = statuses.findIndex((status) => Object(status).is_completed === true);
  if (first < 0) return `not billed after ${statuses.length} attempts`;
  if (billOf(charge).amount !== total) return `charged ${String(billOf(charge).amount)}, wanted ${String(total)}`;
  // Two calls that meet may both write what came of the one charge.
  if (
    !statuses
      .slice(first)
      .every((status) => Object(status).is_completed === true && isDeepStrictEqual(billOf(status), billOf(charge)))
  )
    return 'its STATUS says another bill than the books';
  return undefined;
}

function billOf(value: Json): Bill {
  const { receipt, amount, currency } = Object(value);
  return { receipt, amount, currency };
}

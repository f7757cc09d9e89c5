import { isDeepStrictEqual } from 'node:util';
import { CHARGES } from '../../functions/examples/billing/simulated-cards.ts';
import type { Json, NewCell } from '../../shared/cell.ts';
import { recheckEach, type Checking } from './recheck.ts';

/**
 * Compares each trip's STATUS with the card service's books: one charge of its fare, and a STATUS that says so, after
 * none but declined attempts. Returns how many of the trips that were billed exactly once needed how many attempts.
 *
 * @param bases the BASE cells of the trips, one for each
 */
export async function checkBills(
  bases: readonly NewCell[],
  checking: Checking,
): Promise<readonly (readonly [attempt: number, trips: number])[]> {
  const { store, differences } = checking;
  const attempts = new Map<number, number>();
  const check = async ({ row_key, body }: NewCell): Promise<string | undefined> => {
    const bodies = async (column_name: string): Promise<readonly Json[]> =>
      (await store.versions({ row_key, column_name }, { order: 'asc' })).cells.map((cell) => cell.body);
    const statuses = await bodies('STATUS');
    const what = wrongBill(Object(body).fare?.total, statuses, await bodies(CHARGES));
    const attempt = Number(Object(statuses.at(-1)).attempt);
    if (what === undefined) attempts.set(attempt, (attempts.get(attempt) ?? 0) + 1);
    return what;
  };
  for (const { item, what } of await recheckEach(bases, check, checking))
    differences.fail(`trip ${item.row_key}`, what);
  return [...attempts].sort(([one], [other]) => one - other);
}

/** Returns the error in a trip's billing; undefined if there is none. */
function wrongBill(total: Json, statuses: readonly Json[], charges: readonly Json[]): string | undefined {
  const [charge] = charges;
  if (charges.length !== 1 || charge === undefined) return `charged ${charges.length} times, wanted once`;
  const first = statuses.findIndex((status) => Object(status).is_completed === true);
  if (first < 0) return `not billed after ${statuses.length} attempts`;
  const { amount } = Object(charge);
  if (amount !== total) return `charged ${String(amount)}, wanted ${String(total)}`;
  // Two concurrent calls may both write the result of the one charge.
  const isOfCharge = (status: Json): boolean =>
    Object(status).is_completed === true && isDeepStrictEqual(billOf(status), billOf(charge));
  return statuses.slice(first).every(isOfCharge) ? undefined : 'its STATUS says another bill than the books';
}

function billOf(value: Json): object {
  const { receipt, amount, currency } = Object(value);
  return { receipt, amount, currency };
}

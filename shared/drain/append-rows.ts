import { addressKey, isErasureName } from '../address.ts';
import { maintainEntries } from '../index/maintain-entries.ts';
import { SqlError } from '../sql/client.ts';
import { isRestored } from '../sql/statements/append-cells.ts';
import type { WaitingRow } from '../sql/statements/select-buffered.ts';
import { appendToPrimary } from '../store/append.ts';
import type { AppendResult } from '../store/append-result.ts';
import type { StoreContext } from '../access/context.ts';
import type { OpenRow } from './open-rows.ts';

export interface RefusedRow {
  readonly row: WaitingRow;
  readonly error: SqlError;
}

export interface AppendedRows {
  /** Rows judged: stored now or before, a conflict, or erased. */
  taken: number;
  appended: number;
  readonly conflicts: WaitingRow[];
  readonly erased: WaitingRow[];
  readonly refused: RefusedRow[];
}

/** So many refusals with nothing taken are not one cell's fault: the rest is not tried. */
const REFUSALS = 3;

export function refusesAll({ taken, refused }: Pick<AppendedRows, 'taken' | 'refused'>): boolean {
  return refused.length >= REFUSALS && taken === 0;
}

/**
 * Appends rows of one shard in order; two bodies of one address, and kinds of rows, one after the other. Rows refused
 * together are tried one by one. Throws if the primary fails, or the shard takes no appends.
 */
export async function appendRows(context: StoreContext, rows: readonly OpenRow[], done: AppendedRows): Promise<void> {
  const [first, later] = firstInOneTransaction(rows);
  const [head] = first;
  if (!head || refusesAll(done)) return;
  try {
    const { results } = await appendToPrimary(context, head.datastore, head.shard, first);
    done.taken += results.length;
    for (const [position, { outcome }] of results.entries()) {
      if (outcome === 'conflict') done.conflicts.push(first[position] as OpenRow);
      else if (outcome === 'erased') done.erased.push(first[position] as OpenRow);
      else if (outcome === 'stored') done.appended += 1;
    }
    const there = first.filter((_, position) => isThere(results[position]));
    await maintainEntries(context, head.datastore, there);
  } catch (error) {
    if (!(error instanceof SqlError) || error.failure !== 'rejected') throw error;
    if (first.length === 1) done.refused.push({ row: head, error });
    else for (const row of first) await appendRows(context, [row], done);
  }
  await appendRows(context, later, done);
}

export function isThere(result: AppendResult | undefined): boolean {
  return result?.outcome === 'stored' || result?.outcome === 'stored_before';
}

/** Kinds of rows in order, each in its own statements: none sees erasures that it appends itself. */
export const ROW_KINDS = ['erasure', 'restored', 'new'] as const;

export function kindOf(row: OpenRow): (typeof ROW_KINDS)[number] {
  if (isErasureName(row.column_name)) return 'erasure';
  return isRestored(row) ? 'restored' : 'new';
}

/** Splits off the first row of each address, of the first row's kind. */
function firstInOneTransaction(rows: readonly OpenRow[]): readonly [OpenRow[], OpenRow[]] {
  const addresses = new Set<string>();
  const [head] = rows;
  const [first, later]: [OpenRow[], OpenRow[]] = [[], []];
  for (const row of rows) {
    const address = addressKey(row);
    const isLater = addresses.has(address) || (head !== undefined && kindOf(row) !== kindOf(head));
    (isLater ? later : first).push(row);
    addresses.add(address);
  }
  return [first, later];
}

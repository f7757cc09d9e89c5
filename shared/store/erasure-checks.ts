import type { EncodedCell } from '../sql/encoded-cell.ts';
import type { StoreContext } from '../access/context.ts';
import { partsOf } from '../access/ask-parts.ts';
import { isErasureName } from '../address.ts';
import type { CellKey } from '../cell.ts';
import { byItem, type StoredCell } from '../sql/cell-rows.ts';
import type { SqlClient } from '../sql/client.ts';
import type { ShardFence } from '../sql/statements/append-cells.ts';
import { requireChecks, selectChecks, selectErasures } from '../sql/statements/erasure-checks.ts';
import { selectCells } from '../sql/statements/select-cells.ts';
import { unionOf } from '../sql/union.ts';

/** `unchecked`: nothing was appended, as the shard has erasures and the append did not check. */
type AppendOnce<Done> = (fence: ShardFence) => Promise<Done | 'unchecked'>;

/** Makes an append check for erasures if the shard has any, which a refused append finds out once. */
export async function checkingErasures<Done>(
  { found: { erasures } }: StoreContext,
  client: SqlClient,
  { fence, cells }: { readonly fence: ShardFence; readonly cells: readonly EncodedCell[] },
  append: AppendOnce<Done>,
): Promise<Done> {
  const isErasing = cells.some(({ column_name }) => isErasureName(column_name));
  if (isErasing) await client.change(requireChecks(fence));
  const shard = `${fence.datastore}/${fence.shard}`;
  const done = await append({ ...fence, checksErasures: isErasing || erasures.has(shard) });
  if (done !== 'unchecked') return done;
  erasures.add(shard);
  const checked = await append({ ...fence, checksErasures: true });
  if (checked === 'unchecked') throw new Error('an append that checks for erasures did not');
  return checked;
}

export interface Met {
  /** By cell: the one at its address, or `erased`; undefined if neither is seen. */
  readonly found: readonly (StoredCell | 'erased' | undefined)[];
  readonly isUnchecked: boolean;
  /** The latest cell of each column that was asked for. */
  readonly latest: readonly (StoredCell | undefined)[];
}

/** Looks up, on the writer, the addresses of cells that an append did not store, and the latest cells of columns. */
export async function lookUpMet(
  client: SqlClient,
  fence: ShardFence,
  cells: readonly EncodedCell[],
  columns: readonly Pick<CellKey, 'row_key' | 'column_name'>[] = [],
): Promise<Met> {
  const { datastore, shard, checksErasures = false } = fence;
  const last = cells.length + columns.length;
  const ofColumns = columns.map(({ row_key, column_name }) => ({ row_key, column_name }));
  const keys = [...cells, ...ofColumns].map((key) => ({ key, shard }));
  const asked = unionOf([...partsOf(selectCells({ datastore }, keys, false)), selectChecks(datastore, shard, last)]);
  const answers = byItem(await client.select(asked, 'writer'), last + 1);
  const there = cells.map((_, position) => answers[position]?.cells[0]);
  const hasErasures = (answers[last]?.head ?? 0) > 0;
  const missing = hasErasures ? [...there.keys()].filter((position) => there[position] === undefined) : [];
  const erasures = missing.flatMap((position) =>
    selectErasures(datastore, shard, cells[position] as EncodedCell, position),
  );
  const covering = missing.length === 0 ? [] : byItem(await client.select(unionOf(erasures), 'writer'), last);
  return {
    found: cells.map(({ column_name, ref_key }, position) => {
      const one = there[position] ?? covering[position]?.cells[0];
      // An erasure covers it from elsewhere in its row, or stands in its place.
      const isErased = one && (one.column_name !== column_name || one.ref_key !== ref_key || one.erased !== undefined);
      return isErased ? 'erased' : one;
    }),
    isUnchecked: hasErasures && !checksErasures,
    latest: columns.map((_, position) => answers[cells.length + position]?.cells[0]),
  };
}

import { askEither, type GroupItem } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { decodeCell } from '../access/decode.ts';
import type { Cell, ErasedBy, Role } from '../cell.ts';
import type { Found } from '../contract/datastore.ts';
import { SchemalessError } from '../errors.ts';
import { byItem } from '../sql/cell-rows.ts';
import { retentionOf, shownRetention } from '../sql/hidden-cells.ts';
import { selectErasures } from '../sql/statements/erasure-checks.ts';
import { unionOf } from '../sql/union.ts';
import type { DatastoreTopology } from '../topology/topology.ts';

export interface ReadFrom {
  readonly group: string;
  readonly read: Role;
  readonly topology: DatastoreTopology;
}

export function isErased({ cell }: Found): boolean {
  return cell?.erased === true;
}

/** Adds why a found cell's body is not shown: an erasure, or a retention rule. */
export async function explained(context: StoreContext, from: ReadFrom, item: GroupItem, found: Found): Promise<Found> {
  const [stored] = item.error ? [] : item.cells;
  const { cell } = found;
  if (!cell || !stored) return found;
  const isHidden = stored.hidden !== undefined;
  const erasure = isHidden ? undefined : await erasedBy(context, from, cell);
  if (!isHidden && erasure?.why !== 'retention') return { ...found, ...(erasure && { erasure }) };
  const rule = retentionOf(from.topology.retention, cell.column_name);
  return { ...found, why: 'retention', ...(erasure && { erasure }), ...(rule && { rule: shownRetention(rule) }) };
}

async function erasedBy(
  context: StoreContext,
  { group, read, topology }: ReadFrom,
  cell: Cell,
): Promise<ErasedBy | undefined> {
  const statement = unionOf(selectErasures(topology.datastore, cell.shard, cell, 0));
  const asked = askEither(await context.groups.client(group), group, read, statement);
  const { rows } = await asked.catch((error: unknown) => {
    if (error instanceof SchemalessError) return { rows: [] };
    throw error;
  });
  const [first] = (byItem(rows, 1)[0]?.cells ?? []).toSorted((one, other) => one.added_id - other.added_id);
  const { created_at: erased_at = '', erasure } = first ? decodeCell(first) : {};
  return erasure && { ...erasure, erased_at };
}

import { decodeBody } from '../../shared/body/codec.ts';
import type { CellAddress } from '../../shared/cell.ts';
import { byItem, cellColumns } from '../../shared/sql/cell-rows.ts';
import { entityTable } from '../../shared/sql/names.ts';
import { markOf } from './load/mark.ts';
import { onEachShard } from '../support/past-the-store.ts';
import { DATASTORE, type GroupAccess } from '../support/store-access.ts';

/** A cell on its primary. */
export interface CellThere {
  readonly mark: number;
  readonly shard: number;
  readonly added_id: number;
  /** Milliseconds since 1970, cut. */
  readonly createdAt: number;
}

export type CellsThere = ReadonlyMap<string, CellThere>;

export function addressOf({ row_key, column_name, ref_key }: CellAddress): string {
  return `${row_key}/${ref_key}/${column_name}`;
}

/** Every cell that the groups' writers hold, by its address, read with plain SQL past the store. */
export async function readCellsThere(groups: readonly GroupAccess[]): Promise<CellsThere> {
  const there = new Map<string, CellThere>();
  await onEachShard(groups, async (client, shard) => {
    const sql = `SELECT ${cellColumns(0, shard)} FROM ${entityTable(DATASTORE, shard)}`;
    for (const { body, created_at, ...cell } of byItem(await client.select({ sql, parameters: [] }, 'writer'), 1)[0]
      ?.cells ?? []) {
      const mark = body === null ? -1 : markOf({ ...cell, body: decodeBody(body) });
      there.set(addressOf(cell), {
        mark,
        shard,
        added_id: cell.added_id,
        createdAt: Math.floor(Date.parse(created_at)),
      });
    }
  });
  return there;
}

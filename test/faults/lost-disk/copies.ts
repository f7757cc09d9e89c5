import { onEachGroup, withClient } from '../../support/past-the-store.ts';
import { toNumber } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient, SqlRow, Target } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { DATASTORE, type GroupAccess } from '../../support/store-access.ts';

/** How far one node shows the log of each of its group's shards. */
export type Heads = ReadonlyMap<number, number>;

/** Reads how far a node of a group is, past the store. */
export async function headsAt(groups: readonly GroupAccess[], group: string, target: Target): Promise<Heads> {
  return withClient(groups, group, (client) => heads(client, target));
}

export interface Copies {
  /** Cells on the writer that the node does not show. */
  readonly ahead: number;
  /** Those of them of which no buffer table holds a copy. */
  readonly uncopied: number;
}

/**
 * Holds what a group's writer has and one of its nodes, which receives nothing, has not against the buffer tables of
 * the other groups. The writer is read first: each of its cells was copied before.
 */
export async function copiesOfUnshown(groups: readonly GroupAccess[], group: string, node: number): Promise<Copies> {
  const ahead = await withClient(groups, group, async (client) => {
    const shown = await heads(client, { node });
    const perShard = [...shown].map(
      ([shard, head]) => `SELECT ${ADDRESS} FROM ${entityTable(DATASTORE, shard)} WHERE added_id > ${head}`,
    );
    return addresses(await client.select({ sql: perShard.join(' UNION ALL '), parameters: [] }, 'writer'));
  });
  const sql = `SELECT ${ADDRESS} FROM \`schemaless\`.buffer WHERE datastore = ?`;
  const others = groups.filter(({ name }) => name !== group);
  const copies = new Set(
    (
      await onEachGroup(others, async (client) =>
        addresses(await client.select({ sql, parameters: [DATASTORE] }, 'writer')),
      )
    ).flat(),
  );
  return { ahead: ahead.length, uncopied: ahead.filter((address) => !copies.has(address)).length };
}

const ADDRESS = `CONCAT(HEX(row_key), '/', ref_key, '/', HEX(column_name))`;

function addresses(rows: readonly SqlRow[]): readonly string[] {
  return rows.map(([address]) => String(address));
}

async function heads(client: SqlClient, target: Target): Promise<Heads> {
  const owned = await client.select(
    { sql: 'SELECT shard FROM `schemaless`.shard WHERE datastore = ? ORDER BY shard', parameters: [DATASTORE] },
    target,
  );
  const perShard = owned.map(
    ([shard]) =>
      `SELECT ${toNumber(shard)}, COALESCE(MAX(added_id), 0) FROM ${entityTable(DATASTORE, toNumber(shard))}`,
  );
  const rows = await client.select({ sql: perShard.join(' UNION ALL '), parameters: [] }, target);
  return new Map(rows.map(([shard, head]) => [toNumber(shard), toNumber(head)]));
}

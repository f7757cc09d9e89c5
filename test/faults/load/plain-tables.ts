import { rowKeyBytes, shardDatabase, shardOf } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell, PutResult } from '../../../shared/cell.ts';
import { SqlError, type Statement } from '../../../shared/sql/client.ts';
import { entityTable, quoteName } from '../../../shared/sql/names.ts';
import { withClient } from '../../support/past-the-store.ts';
import { groupClient, type GroupAccess } from '../../support/store-access.ts';
import type { CellWriter } from './ask.ts';

/** The name of the control's tables, instead of a datastore's. */
export const PLAIN = 'plain';

/** Tables without the append: the server numbers the cells. */
export interface PlainAccess {
  readonly group: GroupAccess;
  readonly shards: number;
}

export async function createPlainTables({ group, shards }: PlainAccess): Promise<void> {
  await withClient([group], group.name, async (client) => {
    for (let shard = 0; shard < shards; shard += 1) {
      await client.change({ sql: `CREATE DATABASE ${quoteName(shardDatabase(PLAIN, shard))}`, parameters: [] });
      await client.change({
        sql:
          `CREATE TABLE ${entityTable(PLAIN, shard)} (added_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, row_key BINARY(16) NOT NULL, ` +
          'column_name VARBINARY(255) NOT NULL, ref_key BIGINT NOT NULL, body MEDIUMBLOB NULL, created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), ' +
          'UNIQUE KEY cell (row_key, column_name, ref_key)) ENGINE=InnoDB',
        parameters: [],
      });
    }
  });
}

/** Opens writers without the append. They do not know the outcome of each cell of a batch. */
export function openPlainTables({ group, shards }: PlainAccess): CellWriter {
  const client = groupClient([group], group.name);
  const insert = async (cells: readonly NewCell[]): Promise<readonly PutResult[]> => {
    const shard = shardOf(cells[0]?.row_key ?? '', shards);
    try {
      const { affectedRows, insertId } = await client.change(insertIgnoring(shard, cells));
      const outcome = affectedRows === cells.length ? 'stored' : 'stored_before';
      return cells.map((_, position) => ({ outcome, shard, added_id: outcome === 'stored' ? insertId + position : 0 }));
    } catch (error) {
      if (!(error instanceof SqlError)) throw error;
      return cells.map(() => ({ outcome: 'unavailable', shard, reason: error.message }));
    }
  };
  const byShard = (cells: readonly NewCell[]) => Map.groupBy(cells, ({ row_key }) => shardOf(row_key, shards));
  return {
    put: async (cell) => (await insert([cell]))[0] as PutResult,
    batchPut: async (cells) => (await Promise.all([...byShard(cells).values()].map(insert))).flat(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function insertIgnoring(shard: number, cells: readonly NewCell[]): Statement {
  return {
    sql: `INSERT IGNORE INTO ${entityTable(PLAIN, shard)} (row_key, column_name, ref_key, body) VALUES ${cells.map(() => '(?, ?, ?, ?)').join(', ')}`,
    parameters: cells.flatMap(({ row_key, column_name, ref_key, body }) => [
      rowKeyBytes(row_key),
      Buffer.from(column_name),
      ref_key,
      encodeBody(body, 'body'),
    ]),
  };
}

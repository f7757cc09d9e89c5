import { indexTable, type PhysicalIndex } from '../index-table.ts';
import type { ParsedQuery } from '../query.ts';
import type { Statement } from '../../sql/client.ts';
import { conditionsOf, orderHint } from './select-entries.ts';

export function countFound(datastore: string, index: PhysicalIndex, query: ParsedQuery, most: number): Statement {
  const table = indexTable(datastore, query.shard, index);
  const { conditions, parameters } = conditionsOf(index, query);
  return {
    table,
    sql: `SELECT COUNT(*) FROM (SELECT ${orderHint(query)}1 FROM ${table} AS entry WHERE ${conditions.join(' AND ')} LIMIT ?) AS some`,
    parameters: [...parameters, most],
  };
}

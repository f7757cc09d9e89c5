import { toNumber } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { rebuildTable } from './rebuild-table.ts';
import type { StoredTable } from './select-stored-tables.ts';

/** Whether the server is at writing a table anew: of its own statements a user sees what they are. */
export function selectRebuilding(of: Pick<StoredTable, 'database' | 'table'>): Statement {
  return {
    sql: 'SELECT COUNT(*) FROM information_schema.processlist WHERE info = ?',
    parameters: [rebuildTable(of).sql],
  };
}

export function isRebuilding([row]: readonly SqlRow[]): boolean {
  return toNumber(row?.[0]) > 0;
}

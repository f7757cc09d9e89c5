import { toNumber, toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';

/** A table that may have pages of what was erased. */
export interface StoredTable {
  readonly database: string;
  readonly table: string;
  /** With its keys, and what is free in its file, as the server's statistics have it. */
  readonly bytes: number;
  /** When it was last written anew, in the server's words. */
  readonly createdAt: string;
}

/** The control database, and its tables that have bodies. */
const CONTROL = 'schemaless';
const BUFFERS = ['buffer', 'drained'];

const COLUMNS =
  'table_schema, table_name, COALESCE(data_length + index_length + data_free, 0), create_time FROM information_schema.tables';

/** One of them, as it is now. */
export function selectStoredTable({ database, table }: Pick<StoredTable, 'database' | 'table'>): Statement {
  return { sql: `SELECT ${COLUMNS} WHERE table_schema = ? AND table_name = ?`, parameters: [database, table] };
}

/** The tables of a datastore on one group, those of copies of its shards among them, and those of the group's buffers. */
export function selectStoredTables(datastore: string): Statement {
  return {
    sql:
      `SELECT ${COLUMNS} WHERE table_type = 'BASE TABLE' AND (table_schema LIKE ? OR ` +
      `(table_schema = ? AND table_name IN (${BUFFERS.map(() => '?').join(', ')})))`,
    parameters: [`${`${datastore}_`.replaceAll('_', '\\_')}%`, CONTROL, ...BUFFERS],
  };
}

/** In the order of their names; those of another datastore whose name begins alike are left out. */
export function toStoredTables(rows: readonly SqlRow[], datastore: string): readonly StoredTable[] {
  const isOfShard = new RegExp(`^${datastore}_[0-9]+(_copy)?$`, 'u');
  return rows
    .map(([database, table, bytes, createdAt]) => ({
      database: toText(database ?? null),
      table: toText(table ?? null),
      bytes: toNumber(bytes),
      createdAt: String(createdAt),
    }))
    .filter(({ database }) => database === CONTROL || isOfShard.test(database))
    .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

/** By which tables are told apart, and ordered. */
export function nameOf({ database, table }: Pick<StoredTable, 'database' | 'table'>): string {
  return `${database}.${table}`;
}

import { toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';
import { quoteName } from '../../sql/names.ts';
import type { StoredTable } from './select-stored-tables.ts';

type TableName = Pick<StoredTable, 'database' | 'table'>;

/** Of others' statements: whoever comes behind one that waits for them waits with it. */
const LOCK_WAIT_SECONDS = 2;
/** A large table is copied, and a statement that was given up goes on at the server all the same. */
const REBUILD_MS = 600_000;
const MEASURE_MS = 30_000;

/**
 * Writes a table anew, row by row into a file of its own, while others read and write it: to begin and to end it waits
 * for the statements under way, and those that come meanwhile wait for it. Unlike `ALTER TABLE … FORCE` it takes the
 * rights to read and to insert alone. Replicas do the same once it is done here. Where others are long at the table it is
 * refused; over the RDS Data API, which has no sessions, it waits as long as the server says.
 */
export function rebuildTable(of: TableName): Statement {
  return { ...over('OPTIMIZE TABLE', of), withinMs: REBUILD_MS, lockWaitSeconds: LOCK_WAIT_SECONDS };
}

/** Has the server look how large a table is. */
export function measureTable(of: TableName): Statement {
  return { ...over('ANALYZE NO_WRITE_TO_BINLOG TABLE', of), withinMs: MEASURE_MS };
}

function over(what: string, { database, table }: TableName): Statement {
  const name = `${quoteName(database)}.${quoteName(table)}`;
  return { table: name, sql: `${what} ${name}`, parameters: [], apart: true };
}

/** Why it was refused: such statements answer refusals as rows. Undefined where it was not. */
export function refusalIn(rows: readonly SqlRow[]): string | undefined {
  const refused = rows.find(([, , kind]) => toText(kind ?? '').toLowerCase() === 'error');
  return refused && toText(refused[3] ?? '');
}

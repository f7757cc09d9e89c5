import { toNumber, toText } from '../../sql/cell-rows.ts';
import type { SqlRow, Statement } from '../../sql/client.ts';

/** What a server says of logs of its own. */
export interface ServerLogs {
  /** That the redo log holds. */
  readonly redoBytes: number;
  /** Its undo logs have tablespaces, which it cuts once they have grown. */
  readonly hasUndoSpaces: boolean;
}

/** Of MySQL alone, which has undo tablespaces always. */
const REDO = 'innodb_redo_log_capacity';
/** Of MariaDB. */
const REDO_FILE = 'innodb_log_file_size';

export function selectServerLogs(): Statement {
  return { sql: 'SHOW GLOBAL VARIABLES WHERE Variable_name IN (?, ?)', parameters: [REDO, REDO_FILE] };
}

export function toServerLogs(rows: readonly SqlRow[]): ServerLogs {
  const bytes = new Map(rows.map(([name, value]) => [toText(name ?? null), Number(toText(value ?? null))]));
  return { redoBytes: bytes.get(REDO) ?? bytes.get(REDO_FILE) ?? 0, hasUndoSpaces: bytes.has(REDO) };
}

/** The undo tablespaces of MySQL: each time that one is cut it has another number. Only who may see processes is told. */
export function selectUndoSpaces(): Statement {
  return {
    sql: "SELECT name, space FROM information_schema.innodb_tablespaces WHERE space_type = 'Undo' AND state = 'active'",
    parameters: [],
  };
}

export function toUndoSpaces(rows: readonly SqlRow[]): ReadonlyMap<string, number> {
  return new Map(rows.map(([name, space]) => [toText(name ?? null), toNumber(space)]));
}

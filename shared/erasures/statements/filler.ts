import type { Statement } from '../../sql/client.ts';
import { CONTROL } from '../../sql/names.ts';

/**
 * A table that is there for the while alone in which servers write over their own logs. The right to make it is given
 * where there is something to write over, see `createUsers`.
 */
const FILLER = `${CONTROL}.filler`;

/** Within a page, so that the undo log has whole bodies. */
const BODY_BYTES = 7000;
/** More than MySQL's undo tablespace holds at first (16 MiB), with the undo log of one statement: it has to grow, and is cut. A multiple of 256. */
const ROWS = 2560;
export const FILLER_BYTES = ROWS * BODY_BYTES;

const WITHIN_MS = 120_000;

export function createFiller(): Statement {
  return write(
    `CREATE TABLE IF NOT EXISTS ${FILLER} (id INT UNSIGNED NOT NULL PRIMARY KEY, body VARBINARY(${BODY_BYTES}) NOT NULL)` +
      ' ENGINE=InnoDB',
  );
}

/** Rows may be there, from a run that was cut off. */
export function fillFiller(): Statement {
  const digits = Array.from({ length: 16 }, (_, digit) => `SELECT ${digit} AS digit`).join(' UNION ALL ');
  return write(
    `INSERT INTO ${FILLER} (id, body) SELECT low.digit + 16 * middle.digit + 256 * high.digit AS number, REPEAT('a', ${BODY_BYTES}) ` +
      `FROM (${digits}) AS low CROSS JOIN (${digits}) AS middle CROSS JOIN (${digits}) AS high ` +
      `WHERE high.digit < ${ROWS / 256} ON DUPLICATE KEY UPDATE id = ${FILLER}.id`,
  );
}

/** Writes all its rows anew, each to another letter: as much again to the undo log, and twice that to the redo log. */
export function rewriteFiller(): Statement {
  return write(`UPDATE ${FILLER} SET body = REPEAT(CHAR(97 + (ASCII(body) - 96) % 26), ${BODY_BYTES})`);
}

export function dropFiller(): Statement {
  return write(`DROP TABLE IF EXISTS ${FILLER}`);
}

function write(sql: string): Statement {
  return { table: FILLER, sql, parameters: [], apart: true, withinMs: WITHIN_MS, isLoggedAsText: true };
}

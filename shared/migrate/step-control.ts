import { toNumber } from '../sql/cell-rows.ts';
import { SqlError, type SqlClient } from '../sql/client.ts';
import { CONTROL } from '../sql/names.ts';
import { CONTROL_STEPS } from './steps.ts';

/** The errors of adding a column or a key twice, and of dropping one twice. */
const DONE_BEFORE = new Set([1060, 1061, 1091]);

/**
 * Takes the steps that a group's control database has not taken yet. Steps that this release does not know stay.
 * `steps`: all of them: step n is at n - 1.
 */
export async function stepControl(client: SqlClient, steps = CONTROL_STEPS): Promise<void> {
  const [[known] = []] = await client.select(
    {
      sql: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'schemaless' AND table_name = 'migration'",
      parameters: [],
    },
    'writer',
  );
  const [[last] = []] =
    toNumber(known) === 0
      ? [[0]]
      : await client.select(
          { sql: `SELECT COALESCE(MAX(step), 0) FROM ${CONTROL}.migration`, parameters: [] },
          'writer',
        );
  for (let step = toNumber(last) + 1; step <= steps.length; step += 1) {
    for (const sql of steps[step - 1] ?? []) await client.change({ sql, parameters: [] }).catch(unlessDone);
    await client.change({
      sql: `INSERT IGNORE INTO ${CONTROL}.migration (step, applied_at) VALUES (?, SYSDATE(6))`,
      parameters: [step],
    });
  }
}

/** A migration that was cut off had done this statement. */
function unlessDone(error: unknown): void {
  if (!(error instanceof SqlError) || !DONE_BEFORE.has(error.errno)) throw error;
}

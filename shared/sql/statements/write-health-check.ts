import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/**
 * Writes to a table that nothing else uses: what stops it stops all writes of the server. The server's own
 * time limit for locks ends it: checks of many instances must not wait there by the thousands.
 */
export function writeHealthCheck(): Statement {
  return {
    sql: `INSERT INTO ${CONTROL}.health_check (id, beat) VALUES (1, 0) ON DUPLICATE KEY UPDATE beat = 1 - beat`,
    parameters: [],
  };
}

import type { Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

/**
 * Writes to a table that nothing else uses: what stops it stops all writes of the server. The server gives it up after
 * a second, in the words of MariaDB and of MySQL: checks of many instances must not wait there by the thousands.
 */
export function writeHealthCheck(): Statement {
  return {
    sql:
      '/*M! SET STATEMENT lock_wait_timeout = 1 FOR */ INSERT /*+ SET_VAR(lock_wait_timeout = 1) */ ' +
      `INTO ${CONTROL}.health_check (id, beat) VALUES (1, 0) ON DUPLICATE KEY UPDATE beat = 1 - beat`,
    parameters: [],
  };
}

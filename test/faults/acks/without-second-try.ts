import { SqlError } from '../../../shared/sql/client.ts';
import { changing } from '../changed-clients.ts';

/**
 * A client whose unclear ends are failures, as they look to whoever does not try again: nothing was done. A control.
 */
export const wrap = changing((statement, client) =>
  client.change(statement).catch((error: unknown) => {
    if (error instanceof SqlError && error.failure === 'unclear')
      throw new SqlError('rejected', error.message, { cause: error });
    throw error;
  }),
);

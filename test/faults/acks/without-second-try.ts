import { SqlError } from '../../../shared/sql/client.ts';
import type { Wrap } from '../../support/store-access.ts';

/**
 * A client whose unclear ends are failures, as they look to whoever does not try again: nothing was done. A control.
 */
export const wrap: Wrap = (client) => ({
  ...client,
  change: async (statement) => {
    try {
      return await client.change(statement);
    } catch (error) {
      if (error instanceof SqlError && error.failure === 'unclear')
        throw new SqlError('rejected', error.message, { cause: error });
      throw error;
    }
  },
});

import { SqlError, type SqlClient } from '../../../shared/sql/client.ts';

/** A client whose unclear ends are failures, as they look to whoever does not try again: nothing was done. */
export function withoutSecondTry(client: SqlClient): SqlClient {
  return {
    ...client,
    change: async (statement) => {
      try {
        return await client.change(statement);
      } catch (error) {
        if (error instanceof SqlError && error.failure === 'unclear') throw new SqlError('rejected', error.message, { cause: error });
        throw error;
      }
    },
  };
}

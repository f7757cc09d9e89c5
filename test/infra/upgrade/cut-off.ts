import { SqlError, type SqlClient } from '../../../shared/sql/client.ts';

/** Ends with the statement: whoever sent it does not hear of it, and sends nothing more. */
export interface CutOff {
  /** Changes sent so far. */
  readonly changes: number;
  wrap(client: SqlClient): SqlClient;
}

/**
 * Cuts a migration off after it has done so many changes on a group, as its end at that very moment would: the last one
 * is done, and nobody was told.
 *
 * @param after Infinity: never, to count them
 * @param end what else happens then @default nothing
 */
export function cutOff(after: number, end: () => Promise<void> = async () => undefined): CutOff {
  let changes = 0;
  return {
    get changes() {
      return changes;
    },
    wrap: (client) => ({
      ...client,
      async change(statement) {
        changes += 1;
        const nth = changes;
        if (nth > after) throw new SqlError('unreachable', 'cut off');
        const done = await client.change(statement);
        if (nth < after) return done;
        await end();
        throw new SqlError('unclear', 'cut off');
      },
    }),
  };
}

import { batchedByKey } from '../batched.ts';
import type { SqlChange, SqlClient, Statement } from './client.ts';
import { laneOf, mayGoTogether, sharesOf } from './joint-statements.ts';
import { joinedOf } from './transaction-plan.ts';
import { bytesOf, isUnwanted, MOST_BYTES, unwanted } from './waiting-statements.ts';

/** More at once would wait for the shard's lock, each with a connection or a call. */
const APPENDS_OF_A_SHARD = 1;
/** Inserts of hints do not wait for each other. */
const INSERTS_OF_HINTS = 2;

/** Joins appends to one shard while another is under way, and hints alike, where no transaction joins them. */
export function joiningClient(client: SqlClient): SqlClient {
  const joining = (atOnce: number) =>
    batchedByKey<Statement, SqlChange | Promise<never>>(
      {
        atOnce,
        fits: (parts, next) => mayGoTogether(parts, next) && sizeOf(parts) + sizeOf([next]) <= MOST_BYTES,
        async run(parts) {
          const [first, ...others] = parts.filter((part) => !isUnwanted(part));
          const wanted = first ? ([first, ...others] as const) : undefined;
          const shares = wanted ? sharesOf(await client.change(joinedOf(wanted)), wanted).values() : [].values();
          return parts.map((part) =>
            wanted?.includes(part) ? (shares.next().value as SqlChange) : Promise.reject(unwanted()),
          );
        },
      },
      (statement) => laneOf(statement) as string,
    );
  const [append, insertHints] = [joining(APPENDS_OF_A_SHARD), joining(INSERTS_OF_HINTS)];
  return {
    ...client,
    async change(statement) {
      if (laneOf(statement) === undefined) return client.change(statement);
      return statement.hints ? insertHints(statement) : append(statement);
    },
  };
}

function sizeOf(parts: readonly Statement[]): number {
  return parts.reduce((sum, { parameters }) => sum + bytesOf(parameters), 0);
}

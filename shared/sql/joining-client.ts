import { batchedByKey } from '../batched.ts';
import type { SqlChange, SqlClient, Statement } from './client.ts';
import { jointOf, mayJoin, sharesOf } from './joint-statements.ts';
import { joinedOf } from './transaction-plan.ts';
import { bytesOf, MOST_BYTES } from './waiting-statements.ts';

/**
 * Sends appends to one shard as one while another is under way, and hints alike, where no transaction joins them. More
 * at once would wait for the shard's lock, each with a connection or a call.
 */
export function joiningClient(client: SqlClient): SqlClient {
  const join = batchedByKey<Statement, SqlChange>(
    {
      atOnce: 1,
      fits: (parts, next) =>
        mayJoin(parts, next) && [...parts, next].reduce((sum, part) => sum + bytesOf(part.parameters), 0) <= MOST_BYTES,
      run: async (parts) => sharesOf(await client.change(joinedOf(parts)), parts),
    },
    (statement) => jointOf(statement) as string,
  );
  return {
    ...client,
    change: (statement) => (jointOf(statement) === undefined ? client.change(statement) : join(statement)),
  };
}

import { toNumber } from '../../../shared/sql/cell-rows.ts';
import { groupClient, type GroupAccess } from '../../support/store-access.ts';

const COUNT = {
  sql: 'SELECT COUNT(*) FROM information_schema.processlist WHERE ID <> CONNECTION_ID()',
  parameters: [],
};
const SOON = { connections: 1, connectTimeoutMs: 500, acquireTimeoutMs: 1000, queryTimeoutMs: 1000 };

/** The connections of all servers, replication's own among them. Undefined while one of the servers does not answer. */
export async function countConnections(groups: readonly GroupAccess[]): Promise<number | undefined> {
  const counts = await Promise.all(
    groups.map(async ({ name, nodes }) => {
      const client = groupClient(groups, name, SOON);
      try {
        const ofNodes = await Promise.all(nodes.map((_, node) => client.select(COUNT, { node })));
        return ofNodes.reduce((sum, [row]) => sum + toNumber(row?.[0] ?? null), 0);
      } catch {
        return undefined;
      } finally {
        await client.close();
      }
    }),
  );
  return counts.reduce<number | undefined>(
    (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
    0,
  );
}

import { SqlError, type SqlClient, type SqlRow } from '../../../shared/sql/client.ts';
import { changing } from '../changed-clients.ts';
import { isUnanswered } from './servers/buffer-reads.ts';
import { planOf } from './servers/plans.ts';
import type { SimulatedGroup } from './servers/simulated-group.ts';
import type { BufferedRow } from './servers/tables.ts';
import { BEGINNING_MS } from './world/virtual-time.ts';

/**
 * Bugs of the drain, and of the recovery of a promoted server: each is a client that shows, or does, the wrong thing.
 */

/** An append that any writer admits belongs to the recovery. */
const FENCED = 'log.writer_id = @@server_id';

export const takesRefusalsForDone = changing(async (statement, client) => {
  try {
    return await client.change(statement);
  } catch (error) {
    const isBack = planOf(statement.sql).kind === 'append' && !statement.sql.includes(FENCED);
    if (!isBack || !(error instanceof SqlError) || error.failure !== 'rejected') throw error;
    const cells = statement.sql.split(' UNION ALL ').length;
    return { affectedRows: cells, insertId: cells };
  }
});

/** Shows only the first of the bodies for an address, on whatever group. */
export function hidesYounger(): (client: SqlClient, group: SimulatedGroup) => SqlClient {
  const groups = new Set<SimulatedGroup>();
  const isOpen = (row: BufferedRow): boolean => row.state !== 'conflict' && isUnanswered(row);
  const isFirst = ({ address, createdAt }: BufferedRow): boolean =>
    ![...groups].some((group) =>
      [...bufferOf(group).values()].some(
        (other) => other.address === address && isOpen(other) && other.createdAt < createdAt,
      ),
    );
  return (client, group) => {
    groups.add(group);
    return hiding(client, group, ['unanswered', 'copies'], isFirst);
  };
}

export const parksRefused = changing(async (statement, client) => {
  if (planOf(statement.sql).kind !== 'note refusal') return client.change(statement);
  const [error = '', ...keys] = statement.parameters;
  for (let at = 0; at < keys.length; at += KEY_PARTS)
    await client.change({ sql: PARK, parameters: [error, 1, ...keys.slice(at, at + KEY_PARTS)] });
  return { affectedRows: keys.length / KEY_PARTS, insertId: 0 };
});

const KEY_PARTS = 5;
const PARK =
  "UPDATE `schemaless`.buffer SET attempts = attempts + 1, last_error = ?, state = IF(attempts >= ?, 'parked', state) WHERE state = 'waiting' AND (datastore = ? AND row_key = ? AND column_name = ? AND ref_key = ? AND body_hash = ?)";

const MINIMUM_AGE_MS = 2000;

export function hidesYoung(client: SqlClient, group: SimulatedGroup): SqlClient {
  return hiding(
    client,
    group,
    ['waiting'],
    ({ createdAt }) =>
      createdAt / 1000 < BEGINNING_MS + performance.now() + (group.nodes[group.writer]?.aheadMs ?? 0) - MINIMUM_AGE_MS,
  );
}

/** The rows that one run reaches in a second, in the order of the whole table. */
const ROWS_PER_SECOND = 16;

export function seesFirstRows(client: SqlClient, group: SimulatedGroup): SqlClient {
  const since = performance.now();
  return hiding(client, group, ['waiting'], ({ id }) => {
    const before = [...bufferOf(group).values()].filter((row) => row.state === 'waiting' && row.id < id).length;
    return before < ((performance.now() - since) / 1000) * ROWS_PER_SECOND;
  });
}

/** Shows only some of the rows in a page of a buffer table. */
function hiding(
  client: SqlClient,
  group: SimulatedGroup,
  kinds: readonly string[],
  isShown: (row: BufferedRow) => boolean,
): SqlClient {
  return {
    ...client,
    async select(statement, target) {
      const rows = await client.select(statement, target);
      if (!kinds.includes(planOf(statement.sql).kind)) return rows;
      return rows.filter((row: SqlRow) => {
        const buffered = bufferOf(group).get(Number(row[0]));
        return !buffered || isShown(buffered);
      });
    },
  };
}

function bufferOf(group: SimulatedGroup): ReadonlyMap<number, BufferedRow> {
  return group.nodes[group.writer]?.tables.buffer ?? new Map<number, BufferedRow>();
}

import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { invalidField } from '../../../shared/errors.ts';
import { MARK_SET_BACK, SET_BACK } from '../../../shared/sql/statements/record-writer.ts';
import type { ShardGroups } from '../mysql/shard-groups.ts';
import type { Snapshot } from './snapshot.ts';

const POLL_MS = 250;
/** For who waits: it goes on without. */
const LONGEST_MS = 600_000;

/**
 * Waits until a group that was set back takes appends again. Returns how many of its shards do not.
 */
export async function untilItGoesOn({ groups }: Pick<ShardGroups, 'groups'>, name: string): Promise<number> {
  const group = groups.find((one) => one.name === name);
  if (!group) return 0;
  const { host, port } = group.writerEndpoint;
  let closed = 0;
  for (const end = performance.now() + LONGEST_MS; performance.now() < end; await sleep(POLL_MS)) {
    const connection = await createConnection({ host, port, user: group.user, password: group.password });
    try {
      const [rows] = await connection.query<RowDataPacket[]>(
        `SELECT COUNT(*) AS closed FROM schemaless.shard WHERE writer_id = ${SET_BACK}`,
      );
      closed = Number(rows[0]?.['closed']);
      if (closed === 0) return 0;
    } finally {
      connection.destroy();
    }
  }
  return closed;
}

/** The fewest groups of which writes are copied to another. */
const LEAST_WITH_COPIES = 3;

/**
 * Gives a group the state that it had at a moment, while the rest of the stack goes on: its writes are buffered
 * meanwhile. It takes none itself before the drain has brought back whatever the other groups kept copies of.
 *
 * @throws SchemalessError `invalid_field` for a group that the snapshot lacks; Error where it cannot be done
 */
export async function setBackGroup(groups: ShardGroups, group: string, { groups: positions }: Snapshot): Promise<void> {
  const position = positions[group];
  if (position === undefined) throw invalidField('group', `one of ${Object.keys(positions).join(', ')}`, group);
  // With fewer nothing is copied, so that nobody would open again what is marked.
  await groups.setBack(group, position, groups.groups.length < LEAST_WITH_COPIES ? undefined : MARK_SET_BACK);
}

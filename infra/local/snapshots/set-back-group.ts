import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { invalidField } from '../../../shared/errors.ts';
import { MARK_SET_BACK, SET_BACK } from '../../../shared/sql/statements/record-writer.ts';
import type { ShardGroup, ShardGroups } from '../mysql/shard-groups.ts';
import type { Snapshot } from './snapshot.ts';

const POLL_MS = 250;
const LONGEST_MS = 600_000;

/** Waits until a restored group takes appends again. Returns the number of shards that do not. */
export async function untilItGoesOn({ groups }: Pick<ShardGroups, 'groups'>, name: string): Promise<number> {
  const group = groups.find((one) => one.name === name);
  if (!group) return 0;
  for (const end = performance.now() + LONGEST_MS; ; await sleep(POLL_MS)) {
    const isOver = performance.now() > end;
    try {
      const closed = await countClosed(group);
      if (closed === 0 || isOver) return closed;
    } catch (error) {
      // Its new writer may die as well.
      if (isOver) throw error;
    }
  }
}

async function countClosed({ writerEndpoint: { host, port }, user, password }: ShardGroup): Promise<number> {
  const connection = await createConnection({ host, port, user, password });
  // A server that dies between two statements fails the next one, not the process.
  connection.on('error', () => {});
  try {
    const [rows] = await connection.query<RowDataPacket[]>(
      `SELECT COUNT(*) AS closed FROM schemaless.shard WHERE writer_id = ${SET_BACK}`,
    );
    return Number(rows[0]?.['closed']);
  } finally {
    connection.destroy();
  }
}

/** Returns where a group's log ended. Throws SchemalessError `invalid_field` for an unknown group. */
export function positionOf(group: string, { groups: positions }: Pick<Snapshot, 'groups'>): string {
  const position = positions[group];
  if (position === undefined) throw invalidField('group', `one of ${Object.keys(positions).join(', ')}`, group);
  return position;
}

/** The fewest groups with copies of writes. */
const LEAST_WITH_COPIES = 3;

/**
 * Restores one group of a running stack; its writes are buffered meanwhile. It takes none until the drain has brought
 * back the other groups' copies. Throws SchemalessError `invalid_field` for a group that the snapshot lacks.
 */
export async function setBackGroup(groups: ShardGroups, group: string, snapshot: Snapshot): Promise<void> {
  const position = positionOf(group, snapshot);
  // Without copies, no drain would open a marked group again.
  await groups.setBack(group, position, groups.groups.length < LEAST_WITH_COPIES ? undefined : MARK_SET_BACK);
}

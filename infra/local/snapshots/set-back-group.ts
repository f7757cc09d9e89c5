import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { invalidField } from '../../../shared/errors.ts';
import { MARK_SET_BACK, SET_BACK } from '../../../shared/sql/statements/record-writer.ts';
import type { ShardGroup, ShardGroups } from '../mysql/shard-groups.ts';
import type { Snapshot } from './snapshot.ts';

const POLL_MS = 250;
/** For who waits: it goes on without. */
const LONGEST_MS = 600_000;

/** Waits until a group that was set back takes appends again. Returns how many of its shards do not. */
export async function untilItGoesOn({ groups }: Pick<ShardGroups, 'groups'>, name: string): Promise<number> {
  const group = groups.find((one) => one.name === name);
  if (!group) return 0;
  for (const end = performance.now() + LONGEST_MS; ; await sleep(POLL_MS)) {
    const isOver = performance.now() > end;
    try {
      const closed = await countClosed(group);
      if (closed === 0 || isOver) return closed;
    } catch (error) {
      // Its new writer may die, too, and come back.
      if (isOver) throw error;
    }
  }
}

async function countClosed({ writerEndpoint: { host, port }, user, password }: ShardGroup): Promise<number> {
  const connection = await createConnection({ host, port, user, password });
  // A server that dies between two statements is an error of the next one, not of the process.
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

/**
 * Where a group's log ended.
 *
 * @throws SchemalessError `invalid_field` for a group that the snapshot lacks
 */
export function positionOf(group: string, { groups: positions }: Pick<Snapshot, 'groups'>): string {
  const position = positions[group];
  if (position === undefined) throw invalidField('group', `one of ${Object.keys(positions).join(', ')}`, group);
  return position;
}

/** The fewest groups of which writes are copied to another. */
const LEAST_WITH_COPIES = 3;

/**
 * Gives a group the state that it had at a moment, while the rest of the stack goes on: its writes are buffered
 * meanwhile. It takes none itself before the drain has brought back whatever the other groups kept copies of.
 *
 * @throws SchemalessError `invalid_field` for a group that the snapshot lacks; Error where it cannot be done
 */
export async function setBackGroup(groups: ShardGroups, group: string, snapshot: Snapshot): Promise<void> {
  const position = positionOf(group, snapshot);
  // With fewer nothing is copied, so that nobody would open again what is marked.
  await groups.setBack(group, position, groups.groups.length < LEAST_WITH_COPIES ? undefined : MARK_SET_BACK);
}

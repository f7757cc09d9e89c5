import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { invalidField } from '../../../shared/errors.ts';
import { MARK_RESTORED, RESTORED } from '../../../shared/sql/statements/record-writer.ts';
import type { ShardGroup, ShardGroups } from '../mysql/shard-groups.ts';
import type { Snapshot } from './snapshot.ts';
import { existsSync, readFileSync } from 'node:fs';
import type { DataFolder } from '../folder/data-folder.ts';
import { writeFileAtomically } from '../folder/state-file.ts';

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
      `SELECT COUNT(*) AS closed FROM schemaless.shard WHERE writer_id = ${RESTORED}`,
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
 * Restores one group of a running stack; its writes are buffered. It takes none until the drain has brought
 * back the other groups' copies. Throws SchemalessError `invalid_field` for a group that the snapshot lacks.
 */
export async function restoreGroup(groups: ShardGroups, group: string, snapshot: Snapshot): Promise<void> {
  const position = positionOf(group, snapshot);
  // Without copies, no drain would open a marked group again.
  await groups.restore(group, position, groups.groups.length < LEAST_WITH_COPIES ? undefined : MARK_RESTORED);
}

/** The time of each group's last restore, by group. */
type RestoreTimes = Readonly<Record<string, string>>;

export function readRestoreTimes({ restoreTimes }: Pick<DataFolder, 'restoreTimes'>): RestoreTimes {
  return existsSync(restoreTimes) ? (JSON.parse(readFileSync(restoreTimes, 'utf8')) as RestoreTimes) : {};
}

export function recordRestoreTime(folder: Pick<DataFolder, 'restoreTimes'>, group: string): void {
  writeFileAtomically(
    folder.restoreTimes,
    JSON.stringify({ ...readRestoreTimes(folder), [group]: new Date().toISOString() }),
  );
}

/** Returns why a group would not get back all that was written since a snapshot. */
export function whyCellsWouldGo(
  group: string,
  { taken_at: takenAt }: Pick<Snapshot, 'taken_at'>,
  { keepMinutes, restoreTimes, now = Date.now() }: { keepMinutes: number; restoreTimes: RestoreTimes; now?: number },
): string | undefined {
  const minutes = (now - Date.parse(takenAt)) / 60_000;
  const age = Math.ceil(minutes);
  // Without kept copies, even the same millisecond is too late.
  if (minutes >= keepMinutes)
    return `copies are kept for ${keepMinutes} minutes (--keep-copies of npm start), and the snapshot is ${age === 1 ? '1 minute' : `${age} minutes`} old`;
  const other = Object.entries(restoreTimes).find(([name, at]) => name !== group && at > takenAt);
  return (
    other &&
    `${other[0]} was restored at ${other[1]}, after the snapshot, and has lost the copies that it kept for ${group}`
  );
}

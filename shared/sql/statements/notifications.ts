import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { Moved, SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

export const NOTIFICATIONS = `${CONTROL}.notification`;
/** Notifications that are kept: those of the last seconds. */
const KEPT = 10_000;
const TAKEN = 500;
/** Notifications read at a time; if more come, all shards count as moved. */
const PAGE = 1000;

/** Notifies followers of new cells. One missed costs a slow poll. The insert id is the first number. */
export function notifyFollowers(moved: readonly Moved[]): Statement {
  const shards = [...Map.groupBy(moved, ({ datastore }) => datastore)].map(
    ([datastore, some]) => [datastore, pack(some.map(({ shard }) => shard))] as const,
  );
  return {
    table: NOTIFICATIONS,
    mayShareCommit: true,
    sql: `INSERT INTO ${NOTIFICATIONS} (datastore, shards) VALUES ${shards.map(() => '(?, ?)').join(', ')}`,
    parameters: shards.flat(),
  };
}

/** Deletes old notifications. @param newest number of one just written */
export function dropNotifications(newest: number): Statement {
  return {
    sql: `DELETE FROM ${NOTIFICATIONS} WHERE id < ? ORDER BY id LIMIT ${TAKEN}`,
    parameters: [Math.max(0, newest - KEPT)],
  };
}

/** Selects notifications after a number, and late ones among `missing` numbers; and the newest number. */
export function selectNotifications(after: number, missing: readonly number[]): Statement {
  const late =
    missing.length === 0
      ? ''
      : `UNION ALL SELECT id, datastore, shards FROM ${NOTIFICATIONS} WHERE id IN (${missing.map(() => '?').join(', ')}) `;
  return {
    sql:
      `(SELECT id, datastore, shards FROM ${NOTIFICATIONS} WHERE id > ? ORDER BY id LIMIT ${PAGE}) ${late}` +
      `UNION ALL SELECT COALESCE(MAX(id), 0), NULL, NULL FROM ${NOTIFICATIONS}`,
    parameters: [after, ...missing],
  };
}

export interface Notifications {
  readonly entries: readonly { readonly id: number; readonly datastore: string; readonly shards: readonly number[] }[];
  /** 0 if none is kept. */
  readonly newest: number;
  readonly areMore: boolean;
}

export function toNotifications(rows: readonly SqlRow[]): Notifications {
  const entries: Notifications['entries'][number][] = [];
  let newest = 0;
  for (const [id, datastore, shards] of rows) {
    if (datastore === null || datastore === undefined) newest = toNumber(id);
    else entries.push({ id: toNumber(id), datastore: toText(datastore), shards: unpack(toBytes(shards)) });
  }
  // A union promises no order.
  entries.sort((one, other) => one.id - other.id);
  return { entries, newest, areMore: entries.length >= PAGE };
}

function pack(shards: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(shards.length * 2);
  for (const [position, shard] of shards.entries()) bytes.writeUInt16BE(shard, position * 2);
  return bytes;
}

function unpack(packed: Uint8Array): readonly number[] {
  const bytes = Buffer.from(packed);
  return Array.from({ length: Math.floor(bytes.length / 2) }, (_, position) => bytes.readUInt16BE(position * 2));
}

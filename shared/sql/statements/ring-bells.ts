import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { Moved, SqlRow, Statement } from '../client.ts';
import { CONTROL } from '../names.ts';

export const BELLS = `${CONTROL}.bell`;
/** Rings that are kept: those of the last seconds, for whoever was late. */
const KEPT = 10_000;
/** Of so many who ring one takes old rings away: more of them than came meanwhile. */
export const RINGS_A_DROP = 100;
const TAKEN = 500;
/** Rings that come at a time: more than that, and all shards have rung. */
const PAGE = 1000;

/**
 * Says that cells that triggers want were appended to shards, in the transaction that appends them: who reads them from
 * a node finds the cells there, too. The numbers order nothing, since a transaction may become visible after one with a
 * higher number: a ring that is missed for it costs one slow look at the log.
 *
 * The result's insert id is the number of the first ring.
 */
export function ringBells(moved: readonly Moved[]): Statement {
  const shards = [...Map.groupBy(moved, ({ datastore }) => datastore)].map(
    ([datastore, some]) => [datastore, pack(some.map(({ shard }) => shard))] as const,
  );
  return {
    table: BELLS,
    mayShareCommit: true,
    sql: `INSERT INTO ${BELLS} (datastore, shards) VALUES ${shards.map(() => '(?, ?)').join(', ')}`,
    parameters: shards.flat(),
  };
}

/** Takes away old rings, of which nobody wants to know any more. @param newest the number of one that was just rung */
export function dropBells(newest: number): Statement {
  return {
    sql: `DELETE FROM ${BELLS} WHERE id < ? ORDER BY id LIMIT ${TAKEN}`,
    parameters: [Math.max(0, newest - KEPT)],
  };
}

/**
 * The rings after a number, and the number of the newest.
 *
 * @param missing numbers before that one which were not there yet
 */
export function selectBells(after: number, missing: readonly number[]): Statement {
  const late =
    missing.length === 0
      ? ''
      : `UNION ALL SELECT id, datastore, shards FROM ${BELLS} WHERE id IN (${missing.map(() => '?').join(', ')}) `;
  return {
    sql:
      `(SELECT id, datastore, shards FROM ${BELLS} WHERE id > ? ORDER BY id LIMIT ${PAGE}) ${late}` +
      `UNION ALL SELECT COALESCE(MAX(id), 0), NULL, NULL FROM ${BELLS}`,
    parameters: [after, ...missing],
  };
}

export interface Bells {
  readonly rings: readonly { readonly id: number; readonly datastore: string; readonly shards: readonly number[] }[];
  /** 0 where none is kept. */
  readonly newest: number;
  /** There may be more than came. */
  readonly areMore: boolean;
}

export function toBells(rows: readonly SqlRow[]): Bells {
  const rings: Bells['rings'][number][] = [];
  let newest = 0;
  for (const [id, datastore, shards] of rows) {
    if (datastore === null || datastore === undefined) newest = toNumber(id);
    else rings.push({ id: toNumber(id), datastore: toText(datastore), shards: unpack(toBytes(shards)) });
  }
  // A union promises no order.
  rings.sort((one, other) => one.id - other.id);
  return { rings, newest, areMore: rings.length >= PAGE };
}

/** Two bytes each, the higher one first. */
function pack(shards: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(shards.length * 2);
  for (const [position, shard] of shards.entries()) bytes.writeUInt16BE(shard, position * 2);
  return bytes;
}

function unpack(packed: Uint8Array): readonly number[] {
  const bytes = Buffer.from(packed);
  return Array.from({ length: Math.floor(bytes.length / 2) }, (_, position) => bytes.readUInt16BE(position * 2));
}

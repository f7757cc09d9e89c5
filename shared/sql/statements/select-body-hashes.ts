import { rowKeyBytes } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

export interface HashKey extends CellAddress {
  readonly datastore: string;
  readonly shard: number;
}

/** The SHA-256 of the stored bodies at addresses of one shard, without fetching the bodies; and who answers. */
export function selectBodyHashes(keys: readonly HashKey[]): Statement {
  return unionOf(bodyHashParts([keys]));
}

/**
 * The same in parts that can be asked by themselves: who answers, and the addresses of each of the lists, whose items
 * are numbered through.
 *
 * @param lists each of one shard
 */
export function bodyHashParts(lists: readonly (readonly HashKey[])[]): Statement[] {
  let item = 0;
  const parts = lists.map((keys) => {
    const part = hashesAt(keys, item);
    item += keys.length;
    return part;
  });
  return [
    {
      sql: `SELECT -1 AS item, IF(@@global.read_only IN ('0', 'OFF'), CAST(@@server_id AS BINARY), NULL) AS body_hash`,
      parameters: [],
    },
    ...parts,
  ];
}

/**
 * Joined with a table of the addresses: a SELECT for each of them takes both engines three times as long, most of it to
 * parse and to plan it. The index is named, whatever a server makes of a table that a purge has just written anew.
 */
function hashesAt(keys: readonly HashKey[], from: number): Statement {
  const [first] = keys;
  if (!first) throw new Error('asked for the bodies of no addresses');
  const entity = entityTable(first.datastore, first.shard);
  const asked = keys.map((_, position) =>
    position === 0
      ? `SELECT ${from} AS item, ? AS row_key, ? AS column_name, ? AS ref_key`
      : `SELECT ${from + position}, ?, ?, ?`,
  );
  return {
    table: entity,
    sql:
      `SELECT STRAIGHT_JOIN asked.item, UNHEX(SHA2(cell.body, 256)) AS body_hash ` +
      `FROM (${asked.join(' UNION ALL ')}) AS asked JOIN ${entity} AS cell FORCE INDEX (cell) ` +
      `ON cell.row_key = asked.row_key AND cell.column_name = asked.column_name AND cell.ref_key = asked.ref_key`,
    parameters: keys.flatMap(({ row_key, column_name, ref_key }) => [
      rowKeyBytes(row_key),
      Buffer.from(column_name),
      ref_key,
    ]),
  };
}

export interface BodyHashes {
  /** The server's id where it takes writes: it is its group's writer. */
  readonly writer: number | undefined;
  /** By item: the hash, null where the body was erased, undefined where no cell is. */
  readonly hashes: readonly (Uint8Array | null | undefined)[];
}

export function toBodyHashes(rows: readonly SqlRow[], items: number): BodyHashes {
  const hashes = Array.from<Uint8Array | null | undefined>({ length: items });
  let writer: number | undefined;
  for (const row of rows) {
    if (toNumber(row[0]) < 0) writer = row[1] === null ? undefined : Number(toText(row[1]));
    else hashes[toNumber(row[0])] = row[1] === null ? null : toBytes(row[1]);
  }
  return { writer, hashes };
}

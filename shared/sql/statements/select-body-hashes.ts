import { addressKey, rowKeyBytes, rowKeyOf } from '../../address.ts';
import type { CellAddress } from '../../cell.ts';
import { toBytes, toNumber, toText } from '../cell-rows.ts';
import type { SqlRow, Statement } from '../client.ts';
import { entityTable } from '../names.ts';
import { unionOf } from '../union.ts';

interface HashKey extends CellAddress {
  readonly datastore: string;
  readonly shard: number;
}

/** The SHA-256 of the stored bodies at addresses of one shard, without fetching the bodies; and who answers. */
export function selectBodyHashes(keys: readonly HashKey[]): Statement {
  return unionOf(bodyHashParts([keys]));
}

/**
 * The same in parts that can be asked by themselves: who answers, and the addresses of each of the lists.
 *
 * @param lists each of one shard
 */
export function bodyHashParts(lists: readonly (readonly HashKey[])[]): Statement[] {
  return [
    {
      sql: `SELECT -1 AS list, IF(@@global.read_only IN ('0', 'OFF'), CAST(@@server_id AS BINARY), NULL) AS body_hash, NULL AS row_key, NULL AS column_name, NULL AS ref_key`,
      parameters: [],
    },
    ...lists.map(hashesAt),
  ];
}

/**
 * Of 1,000 values in such a list MariaDB makes a table of its own (`in_predicate_conversion_threshold`), and may read all of
 * the shard to find what is in it.
 */
export const MOST_ADDRESSES = 300;

/**
 * One SELECT for all addresses of a shard, each a look-up in the key: of sixty in twenty shards it takes MariaDB a
 * quarter, and MySQL half, of what a join with a table of the addresses takes. Conditions take less time than a list of
 * one. The index is named, since MySQL goes by the statistics of a table, and may have those of before it filled.
 */
function hashesAt(keys: readonly HashKey[], list: number): Statement {
  const [first] = keys;
  if (!first || keys.length > MOST_ADDRESSES)
    throw new Error(`wanted 1 to ${MOST_ADDRESSES} addresses of a shard to ask for, got ${keys.length}`);
  const entity = entityTable(first.datastore, first.shard);
  const which =
    keys.length === 1
      ? 'row_key = ? AND column_name = ? AND ref_key = ?'
      : `(row_key, column_name, ref_key) IN (${keys.map(() => '(?, ?, ?)').join(', ')})`;
  return {
    table: entity,
    sql: `SELECT ${list} AS list, UNHEX(SHA2(body, 256)) AS body_hash, row_key, column_name, ref_key FROM ${entity} FORCE INDEX (cell) WHERE ${which}`,
    parameters: keys.flatMap(({ row_key, column_name, ref_key }) => [
      rowKeyBytes(row_key),
      Buffer.from(column_name),
      ref_key,
    ]),
  };
}

interface BodyHashes {
  /** The server's id where it takes writes: it is its group's writer. */
  readonly writer: number | undefined;
  /** Of each list, in its order: the hash, null where the body was erased, undefined where no cell is. */
  readonly hashes: readonly (readonly (Uint8Array | null | undefined)[])[];
}

/** @param lists as they were asked for: an address may be in one more than once */
export function toBodyHashes(rows: readonly SqlRow[], lists: readonly (readonly HashKey[])[]): BodyHashes {
  const found = lists.map(() => new Map<string, Uint8Array | null>());
  let writer: number | undefined;
  for (const [list, hash = null, row_key, column_name, ref_key] of rows) {
    if (toNumber(list) < 0) writer = hash === null ? undefined : Number(toText(hash));
    else {
      const address = {
        row_key: rowKeyOf(toBytes(row_key)),
        column_name: toText(column_name),
        ref_key: toNumber(ref_key),
      };
      found[toNumber(list)]?.set(addressKey(address), hash === null ? null : toBytes(hash));
    }
  }
  return { writer, hashes: lists.map((keys, list) => keys.map((key) => found[list]?.get(addressKey(key)))) };
}

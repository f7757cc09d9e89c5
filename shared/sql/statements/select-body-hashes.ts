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

export function selectBodyHashes(keys: readonly HashKey[]): Statement {
  return unionOf(bodyHashParts([keys]));
}

/** Returns parts that tell the answering server, and hashes of lists of addresses, each of one shard. */
export function bodyHashParts(lists: readonly (readonly HashKey[])[]): Statement[] {
  return [
    {
      sql: `SELECT -1 AS list, IF(@@global.read_only IN ('0', 'OFF'), CAST(@@server_id AS BINARY), NULL) AS body_hash, NULL AS row_key, NULL AS column_name, NULL AS ref_key`,
      parameters: [],
    },
    ...lists.map(hashesAt),
  ];
}

/** MariaDB makes a table of 1,000 values (`in_predicate_conversion_threshold`), and may read the whole shard. */
export const MOST_ADDRESSES = 300;

/** Looks up addresses of a shard in one SELECT, faster than a join; by the named key at any statistics. */
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
  /** The server's id if it is its group's writer. */
  readonly writer: number | undefined;
  /** By list and address: the hash, null if erased, undefined if there is no cell. */
  readonly hashes: readonly (readonly (Uint8Array | null | undefined)[])[];
}

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

import { rowKeyOf } from '../../../shared/address.ts';
import { decodeBody } from '../../../shared/body/codec.ts';
import type { Json } from '../../../shared/cell.ts';
import { columnsOf, entriesOf } from '../../../shared/index/entry.ts';
import { fromSql, indexTable, type PhysicalIndex } from '../../../shared/index/index-table.ts';
import { toBytes, toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { entityTable } from '../../../shared/sql/names.ts';
import { onEachShard, rowsOf } from '../../support/past-the-store.ts';
import type { GroupAccess } from '../../support/store-access.ts';
import { keyOfValue, shardOfValue } from '../../../shared/definitions/field-value.ts';
import type { IndexProblem } from '../../../shared/index/verify.ts';

export interface Compared {
  readonly problems: Problems;
  /** Entries that there should be. */
  readonly wanted: number;
}

/**
 * Compares an index with the cells as both lie in the tables of the groups' writers: whatever versions, tombstones and
 * leases say, these are the entries that queries find.
 */
export async function compareTables(
  groups: readonly GroupAccess[],
  datastore: string,
  shards: number,
  index: PhysicalIndex,
): Promise<Compared> {
  const wanted = new Map<string, string>();
  const held = new Map<string, string>();
  await onEachShard(
    groups,
    async (client, shard) => {
      await addWanted(client, { datastore, shard, shards, index, into: wanted });
      await addHeld(client, { datastore, shard, index, into: held });
    },
    datastore,
  );
  const problems = { missing: 0, extra: 0, wrong: 0 };
  for (const [key, values] of wanted) {
    const there = held.get(key);
    if (there === undefined) problems.missing += 1;
    else if (there !== values) problems.wrong += 1;
  }
  for (const key of held.keys()) if (!wanted.has(key)) problems.extra += 1;
  return { problems, wanted: wanted.size };
}

interface ShardPart {
  readonly datastore: string;
  readonly shard: number;
  readonly index: PhysicalIndex;
  /** Values by shard, row key and value of the shard field. */
  readonly into: Map<string, string>;
}

interface Latest {
  readonly ref_key: number;
  readonly body: Uint8Array;
}

async function addWanted(
  client: SqlClient,
  { datastore, shard, shards, index, into }: ShardPart & { readonly shards: number },
): Promise<void> {
  const { definition } = index;
  const columns = columnsOf(definition);
  const sql = `SELECT row_key, column_name, ref_key, body FROM ${entityTable(datastore, shard)} WHERE column_name IN (${columns.map(() => '?').join(', ')})`;
  const latest = new Map<string, Map<string, Latest>>();
  const named = columns.map((column) => Buffer.from(column));
  for (const [rowKey, column, refKey, body] of await rowsOf(client, sql, named)) {
    const row = rowKeyOf(toBytes(rowKey));
    const ofRow = latest.get(row) ?? new Map<string, Latest>();
    latest.set(row, ofRow);
    const ref_key = toNumber(refKey);
    if ((ofRow.get(toText(column))?.ref_key ?? -1) < ref_key)
      ofRow.set(toText(column), { ref_key, body: toBytes(body) });
  }
  const [shardField] = definition.fields;
  for (const [row_key, ofRow] of latest) {
    const bodies = new Map<string, Json>([...ofRow].map(([column, { body }]) => [column, decodeBody(body)]));
    const { values } = entriesOf(definition, bodies);
    const first = values?.[0] ?? null;
    if (values && first !== null && shardField)
      into.set(
        `${shardOfValue(first, shardField.type, shards)}/${row_key}/${keyOfValue(first)}`,
        values.map(keyOfValue).join('/'),
      );
  }
}

async function addHeld(client: SqlClient, { datastore, shard, index, into }: ShardPart): Promise<void> {
  const { fields } = index.definition;
  const sql = `SELECT row_key, ${fields.map((_, position) => `f${position}`).join(', ')} FROM ${indexTable(datastore, shard, index)} WHERE tombstone_at IS NULL`;
  for (const [rowKey, ...columns] of await rowsOf(client, sql)) {
    const values = fields.map(({ type }, position) => fromSql(columns[position] ?? null, type)).map(keyOfValue);
    into.set(`${shard}/${rowKeyOf(toBytes(rowKey))}/${values[0] ?? keyOfValue(null)}`, values.join('/'));
  }
}

/** How many entries are not as the cells say. */
export type Problems = Record<IndexProblem['kind'], number>;

export const KINDS = ['missing', 'extra', 'wrong'] as const;

export function noProblems(): Problems {
  return { missing: 0, extra: 0, wrong: 0 };
}

export function total(problems: Problems): number {
  return KINDS.reduce((sum, kind) => sum + problems[kind], 0);
}

/** "0 missing, 0 extra, 0 wrong" */
export function problemsText(problems: Problems): string {
  return KINDS.map((kind) => `${problems[kind].toLocaleString('en-US')} ${kind}`).join(', ');
}

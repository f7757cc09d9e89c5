import type { Command } from 'commander';
import { parseColumnName, parseRowKey, shardDatabase, shardOf } from '../../../shared/address.ts';
import type { IndexStatus } from '../../../shared/api/indexes.ts';
import type { SchemalessClient } from '../../../shared/client/client.ts';
import type { ShardHead } from '../../../shared/contract/datastore.ts';
import { readField } from '../../../shared/definitions/field-value.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { command } from '../cli.ts';
import { badUsage } from '../errors.ts';
import type { Session } from '../session.ts';
import { readConditions } from './indexes.ts';

export function explain(): Command {
  return command('explain')
    .description('show the location of a row (shard, group, database, tables), and the SQL to read it by hand')
    .argument('<row-key>', 'a UUID; with --query the name of an index')
    .argument('[column...]', 'its name; with --query the conditions')
    .option('-q, --query', 'show the shard, group and statement of a query of an index, with its plan')
    .examples(
      ['schemaless explain 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0', 'a row, written or not'],
      ['schemaless explain 6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0 BASE', 'one column of it'],
      ['schemaless explain --query rider_index rider_uuid=d3b07384-…', 'a query'],
    )
    .run<[what: string, more: readonly string[]], { readonly query?: true }>(
      async (session, [what, more], { query }) => {
        if (query === true) return explainQuery(session, what, more);
        const [column, ...others] = more;
        if (others.length > 0) throw badUsage('column', 'one at most', `${more.length}`);
        const row_key = parseRowKey(what);
        return session.output.record(await explainRow(await session.connect(), row_key, column));
      },
    );
}

async function explainQuery({ output, connect }: Session, index: string, texts: readonly string[]): Promise<void> {
  const client = await connect();
  const { explain: explained } = await client.query({ index, where: readConditions(texts), explain: true, limit: 1 });
  const { shard, group, statement, plan } = explained ?? { shard: null, group: null, statement: '', plan: null };
  await output.record({ index, shard, group, table: tableOf(statement), statement, plan });
}

/** Returns the location of a row's cells and entries, with SQL to read them. Throws as reads, and `invalid_field`. */
async function explainRow(client: SchemalessClient, row_key: string, column: string | undefined): Promise<object> {
  const name = column === undefined ? undefined : parseColumnName(column);
  const heads = await client.heads();
  const shard = shardOf(row_key, heads.length);
  const home = heads.find((head) => head.shard === shard) as ShardHead;
  const database = shardDatabase(client.name, shard);
  const key = `UNHEX(REPLACE('${row_key}', '-', ''))`;
  const ofColumn = name === undefined ? '' : ` AND column_name = ${bytesLiteral(name)}`;
  return {
    row_key,
    shard,
    of_shards: heads.length,
    group: home.group,
    database,
    table: `${database}.entity`,
    // Null if it cannot be read now.
    head: home.error ? null : home.head,
    sql_shard: `SELECT CRC32(${key}) % ${heads.length};`,
    sql_cells: `SELECT added_id, CAST(column_name AS CHAR) AS column_name, ref_key, LENGTH(body), created_at FROM ${database}.entity WHERE row_key = ${key}${ofColumn} ORDER BY column_name, ref_key DESC;`,
    sql_owner: `SELECT * FROM schemaless.shard WHERE datastore = '${client.name}' AND shard = ${shard};`,
    sql_buffered: `SELECT id, CAST(column_name AS CHAR) AS column_name, ref_key, state, attempts, last_error FROM schemaless.buffer WHERE datastore = '${client.name}' AND row_key = ${key}${ofColumn};`,
    // By the values of its latest cells.
    entries: await explainEntries(client, row_key),
  };
}

function bytesLiteral(name: string): string {
  return `0x${Buffer.from(name).toString('hex')}`;
}

async function explainEntries(client: SchemalessClient, row_key: string): Promise<readonly object[]> {
  const { indexes } = await client.listIndexes();
  const columns = [...new Set(indexes.flatMap(({ fields }) => fields[0]?.column_key ?? []))];
  if (columns.length === 0) return [];
  const { cells } = await client.row(row_key, { columns });
  const entries = await Promise.all(
    indexes.map(async (status) => {
      const cell = cells.find(({ column_name }) => column_name === status.fields[0]?.column_key);
      return cell === undefined ? undefined : explainEntry(client, status, cell.body);
    }),
  );
  return entries.filter((entry) => entry !== undefined);
}

/** Asks the index, since its definition names its table. Returns undefined if the row has no entry. */
async function explainEntry(
  client: SchemalessClient,
  { index, fields: [first] }: IndexStatus,
  body: Parameters<typeof readField>[0],
): Promise<object | undefined> {
  if (first === undefined) return undefined;
  const value = readField(body, first.field, first.type);
  if (value === undefined || value === null) return undefined;
  try {
    const where = { [first.field]: value };
    const { explain } = await client.query({ index, where, limit: 1, explain: true });
    if (!explain) return undefined;
    const { shard, group, statement } = explain;
    return { index, field: first.field, value: String(value), shard, group, table: tableOf(statement) };
  } catch (error) {
    // An index that is being built has no entries yet.
    if (error instanceof SchemalessError && error.code === 'index_building') return undefined;
    throw error;
  }
}

export function tableOf(statement: string): string {
  return (/\bFROM\s+(`?\w+`?\.`?\w+`?)/u.exec(statement)?.[1] ?? '').replaceAll('`', '');
}

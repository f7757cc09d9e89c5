import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { decodeBody } from '../../../shared/body/codec.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { select } from '../../support/plain-sql.ts';
import type { RealStore } from '../../support/real-store.ts';

/**
 * Where a text stands, in whatever tables a store has: all values of all its MySQL tables on every group, buffers and
 * kept copies included, as they are and as the bodies that they may be; and all items of its DynamoDB tables.
 *
 * @returns the names of the tables
 */
export async function placesOf(
  text: string,
  store: RealStore,
  tables: readonly DynamoTable[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { name: group } of store.groups) {
    const client = store.client(group);
    const names = await select(
      client,
      `SELECT CONCAT(t.table_schema, '.', t.table_name), COUNT(c.column_name) FROM information_schema.tables t
        LEFT JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
          AND t.table_schema = 'schemaless' AND c.column_name = 'datastore'
        WHERE t.table_schema LIKE 'sealed\\_%' OR t.table_schema = 'schemaless'
        GROUP BY t.table_schema, t.table_name`,
    );
    for (const [name, ofDatastores] of names) {
      const [schema = '', table = ''] = textOf(name).split('.');
      // What other test files have waiting there is much.
      const where = Number(textOf(ofDatastores)) > 0 ? " WHERE datastore LIKE 'sealed\\_%'" : '';
      const rows = await select(client, `SELECT * FROM \`${schema}\`.\`${table}\`${where}`);
      if (rows.some((row) => row.some((value) => holds(value, text)))) found.push(`${group}: ${table}`);
    }
  }
  for (const { client, table } of tables) {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: table }));
    const bytes = (_key: string, value: unknown): unknown =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
    if (JSON.stringify(Items, bytes).includes(text)) found.push(table);
  }
  return found;
}

const textOf = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString() : String(value ?? '');

function holds(value: unknown, text: string): boolean {
  if (textOf(value).includes(text)) return true;
  if (!(value instanceof Uint8Array)) return false;
  try {
    return stringifyJson(decodeBody(Buffer.from(value))).includes(text);
  } catch {
    return false;
  }
}

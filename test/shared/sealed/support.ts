import { randomBytes, randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { decodeBody } from '../../../shared/body/codec.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { Cell, Json, NewCell } from '../../../shared/cell.ts';
import type { Found } from '../../../shared/contract/datastore.ts';
import type { IndexDefinition, SealedFields } from '../../../shared/definitions/definitions.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import type { KeyStore } from '../../../shared/sealed/key-store.ts';
import { sealUnder } from '../../../shared/sealed/seal.ts';
import type { StoredDatastore } from '../../../shared/store/deployment.ts';
import { subjectManagement } from '../../../shared/sealed/subject-management.ts';
import { newTable } from '../../support/dynamo.ts';
import { lookedUp } from '../../support/looked-up-batched.ts';
import { select } from '../../support/plain-sql.ts';
import { openRealStore, type RealStore, type RealStoreOptions } from '../../support/real-store.ts';

/** One cell may hold several subjects. */
const SEALED: readonly SealedFields[] = [
  { column: 'BASE', subject: 'rider_uuid', fields: ['rider_name', 'rider.phone', 'rider_email'] },
  { column: 'BASE', subject: 'driver_uuid', fields: ['driver_note'] },
];

/** Opens a datastore with sealed fields on real servers, as an instance does, with the management of its subjects. */
export async function openSealed({
  indexes,
  ...more
}: Omit<RealStoreOptions, 'datastores' | 'indexes' | 'sealed'> & { readonly indexes: readonly IndexDefinition[] }) {
  const store = await openRealStore({
    ...more,
    datastores: { sealed: 4, open: 1 },
    indexes: { sealed: indexes },
    sealed: { sealed: SEALED },
  });
  const name = store.nameOf('sealed');
  const root = randomBytes(32);
  const keys: KeyStore = { table: await newTable(store.topologyTable.client), root: async () => [root] };
  const management = subjectManagement({ topology: store.topology, keys, keyDays: 35 });
  const stored = await store.deployment.datastore(name);
  /** As another instance has it, which knows no key yet. */
  const another = (): Promise<StoredDatastore> => sealUnder(store.topology, keys)(stored);
  return {
    store,
    name,
    trips: await another(),
    stored,
    keys,
    subjects: await management.subjects(name, 'tester'),
    another,
    body: async (one: NewCell) => (await stored.get(one)).cell?.body as { readonly [key: string]: Json },
    /** The tables in which a text stands. */
    places: (text: string) => placesOf(text, store, [keys.table, store.topologyTable]),
  };
}

/** Planted, and searched in every place. */
export const mark = (): string => `mark-${randomUUID()}`;

export interface Planted extends NewCell {
  readonly rider: string;
  readonly driver: string;
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  /** Of the driver. */
  readonly note: string;
  readonly plain: string;
  readonly body: { readonly [key: string]: Json };
}

export function trip({ rider = randomUUID() }: { readonly rider?: string } = {}): Planted {
  const [driver, name, email, phone, note, plain] = [randomUUID(), mark(), mark(), mark(), mark(), mark()];
  const body = {
    rider_uuid: rider,
    rider_name: name,
    rider: { phone, since: 2019 },
    rider_email: email,
    driver_uuid: driver,
    driver_note: { text: note, stars: [5, 4] },
    city: plain,
  };
  return {
    row_key: randomUUID(),
    column_name: 'BASE',
    ref_key: 1,
    body,
    rider,
    driver,
    name,
    email,
    phone,
    note,
    plain,
  };
}

export const cellOf = ({ row_key, column_name, ref_key, body }: NewCell): NewCell => ({
  row_key,
  column_name,
  ref_key,
  body,
});

/** Everything that reads a cell, each as the body and the paths that were forgotten. */
export async function readings(trips: StoredDatastore, one: Planted, options: { readonly sealed?: boolean } = {}) {
  const { row_key, column_name, ref_key } = one;
  const key = { row_key, column_name };
  const [got, latest, versions, row, batch, together] = await Promise.all([
    trips.get({ ...key, ref_key }, options),
    trips.getLatest(key, options),
    trips.versions(key, options),
    trips.row(row_key, options),
    trips.batchGet([{ ...key, ref_key }], options),
    lookedUp(trips, [{ ...key, ref_key }], options),
  ]);
  const cell = got.cell as Cell;
  const logs = await trips.log([{ shard: cell.shard, after: cell.added_id - 1 }], { limit: 1, ...options });
  const [log] = logs;
  const inLog = log && 'cells' in log ? log.cells[0] : undefined;
  const [lookUp] = together as readonly Found[];
  return [cell, latest.cell, versions.cells[0], row.cells[0], batch[0] as Cell, lookUp?.cell, inLog].map((read) => ({
    body: read?.body,
    forgotten: read?.forgotten,
  }));
}

/**
 * Searches all tables of a store for a text: all values of its MySQL tables on every group, buffers and kept copies
 * included, as they are and as decoded bodies. Searches all items of its DynamoDB tables as well.
 *
 * @returns the names of the tables
 */
async function placesOf(text: string, store: RealStore, tables: readonly DynamoTable[]): Promise<readonly string[]> {
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
      // Other test files have many rows there.
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

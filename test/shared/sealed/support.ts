import { randomBytes, randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { decodeBody } from '../../../shared/body/codec.ts';
import { stringifyJson } from '../../../shared/body/json.ts';
import type { Cell, Json, NewCell } from '../../../shared/cell.ts';
import type { Found } from '../../../shared/contract/datastore.ts';
import type { IndexDefinition, SealedFields } from '../../../shared/definitions/definitions.ts';
import type { SubjectOperations } from '../../../shared/api/subjects.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import type { KeyStore } from '../../../shared/sealed/key-store.ts';
import { sealUnder } from '../../../shared/sealed/seal.ts';
import type { StoredDatastore } from '../../../shared/store/deployment.ts';
import { subjectManagement, type SubjectManagement } from '../../../shared/sealed/subject-management.ts';
import { newTable } from '../../support/dynamo.ts';
import { lookedUp } from '../../support/looked-up-together.ts';
import { select } from '../../support/plain-sql.ts';
import { openRealStore, type RealStore, type RealStoreOptions } from '../../support/real-store.ts';

/** One cell may hold several subjects. */
const SEALED: readonly SealedFields[] = [
  { column: 'BASE', subject: 'rider_uuid', fields: ['rider_name', 'rider.phone', 'rider_email'] },
  { column: 'BASE', subject: 'driver_uuid', fields: ['driver_note'] },
];

/** A datastore with sealed fields, on real servers, as an instance has it, and whoever forgets its subjects. */
interface SealedStore {
  readonly store: RealStore;
  readonly name: string;
  readonly trips: StoredDatastore;
  readonly stored: StoredDatastore;
  readonly keysTable: DynamoTable;
  readonly keys: KeyStore;
  readonly management: SubjectManagement;
  readonly subjects: SubjectOperations;
  /** As another instance has it, which knows no key yet. */
  another(): Promise<StoredDatastore>;
  body(one: NewCell): Promise<{ readonly [key: string]: Json }>;
  /** The tables in which a text stands. */
  places(text: string): Promise<readonly string[]>;
}

export async function openSealed(
  options: Omit<RealStoreOptions, 'datastores' | 'indexes' | 'sealed'> & {
    readonly indexes?: readonly IndexDefinition[];
    readonly sealed?: readonly SealedFields[];
    readonly shards?: number;
  } = {},
): Promise<SealedStore> {
  const { indexes = [], sealed = SEALED, shards = 4, ...more } = options;
  const store = await openRealStore({
    ...more,
    datastores: { sealed: shards, open: 1 },
    indexes: { sealed: indexes },
    sealed: { sealed },
  });
  const name = store.nameOf('sealed');
  const root = randomBytes(32);
  const keysTable = await newTable(store.topologyTable.client);
  const keys: KeyStore = { table: keysTable, root: async () => [root] };
  const management = subjectManagement({ topology: store.topology, keys, keyDays: 35 });
  const stored = await store.deployment.datastore(name);
  const another = (): Promise<StoredDatastore> => sealUnder(store.topology, keys)(stored);
  return {
    store,
    name,
    trips: await another(),
    stored,
    keysTable,
    keys,
    management,
    subjects: await management.subjects(name, 'tester'),
    another,
    body: async (one) => (await stored.get(one)).cell?.body as { readonly [key: string]: Json },
    places: (text) => placesOf(text, store, [keysTable, store.topologyTable]),
  };
}

/** Planted, and looked for in every place. */
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

export function trip(
  changes: { readonly rider?: string; readonly row_key?: string; readonly ref_key?: number } = {},
): Planted {
  const { rider = randomUUID(), row_key = randomUUID(), ref_key = 1 } = changes;
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
  return { row_key, column_name: 'BASE', ref_key, body, rider, driver, name, email, phone, note, plain };
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
 * Where a text stands, in whatever tables a store has: all values of all its MySQL tables on every group, buffers and
 * kept copies included, as they are and as the bodies that they may be; and all items of its DynamoDB tables.
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

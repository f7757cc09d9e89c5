import type { DatastoreDefinition, Definitions } from '../definitions/definitions.ts';
import { deleteState, putState, readState, type StateItem } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';

/**
 * What the deployment defines, as its last migration was told: that is its own to change. Items of the topology table,
 * since whoever asks may be of another deployment than that which migrated last, and triggers come from code, too.
 *
 * | pk | holds |
 * |---|---|
 * | `deployed` | `names`: those of its datastores, JSON |
 * | `deployed#trips` | `definition`: the datastore with its indexes and triggers, JSON |
 */
const DEPLOYED = 'deployed';

/** Writes all of it: what it does not name is not defined any more. */
export async function writeDeployed(table: DynamoTable, { datastores }: Definitions): Promise<void> {
  const before = ((await read(table, DEPLOYED, 'names')) ?? []) as readonly string[];
  for (const datastore of datastores) await write(table, `${DEPLOYED}#${datastore.name}`, 'definition', datastore);
  const names = datastores.map(({ name }) => name);
  await write(table, DEPLOYED, 'names', names);
  for (const name of before) if (!names.includes(name)) await deleteState(table, `${DEPLOYED}#${name}`);
}

/** Reads it past every cache; undefined before the first migration that wrote it. */
export async function readDeployed(table: DynamoTable): Promise<Definitions | undefined> {
  const names = (await read(table, DEPLOYED, 'names')) as readonly string[] | undefined;
  if (!names) return undefined;
  const datastores: DatastoreDefinition[] = [];
  for (const name of names) {
    const datastore = await read(table, `${DEPLOYED}#${name}`, 'definition');
    if (datastore) datastores.push(datastore as DatastoreDefinition);
  }
  return { datastores };
}

/** The names of the datastores that the deployment defines; undefined where the item of the table is another one. */
export function toDeployedNames({ pk, names }: StateItem): readonly string[] | undefined {
  return pk?.S === DEPLOYED ? (JSON.parse(names?.S ?? '[]') as readonly string[]) : undefined;
}

async function write(table: DynamoTable, key: string, attribute: string, value: object): Promise<void> {
  await putState(table, key, { [attribute]: { S: JSON.stringify(value) } });
}

async function read(table: DynamoTable, key: string, attribute: string): Promise<unknown> {
  const text = (await readState(table, key))?.[attribute]?.S;
  return text === undefined ? undefined : JSON.parse(text);
}

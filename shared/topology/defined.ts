import type {
  DatastoreDefinition,
  Definitions,
  IndexDefinition,
  RetentionRule,
  SealedFields,
} from '../definitions/definitions.ts';
import { deleteState, putState, readState, type StateItem, setState } from '../dynamo/state-table.ts';
import { allItems, type DynamoTable } from '../dynamo/table.ts';
import { groupBy } from '../group-by.ts';
import type { DeployedTrigger } from './topology.ts';

/**
 * The definitions of the deployment as of its last migration; only a deployment changes them. They are items of the
 * topology table, since a reader may be of another deployment than the last, and code may define triggers.
 *
 * | pk | holds |
 * |---|---|
 * | `deployed` | `names`: those of its datastores, JSON |
 * | `deployed#trips` | `definition`: the datastore with its indexes and triggers, JSON |
 */
const DEPLOYED = 'deployed';

/** Replaces all of it: datastores that it does not name are not defined any more. */
export async function writeDeployed(table: DynamoTable, { datastores }: Definitions): Promise<void> {
  const before = ((await read(table, DEPLOYED, 'names')) ?? []) as readonly string[];
  for (const datastore of datastores) await write(table, `${DEPLOYED}#${datastore.name}`, 'definition', datastore);
  const names = datastores.map(({ name }) => name);
  await write(table, DEPLOYED, 'names', names);
  for (const name of before) if (!names.includes(name)) await deleteState(table, `${DEPLOYED}#${name}`);
}

/** Reads it past every cache; returns undefined before the first migration that wrote it. */
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

/** Returns the names of the deployment's datastores; undefined for another item of the table. */
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

/**
 * Definitions applied through the API, as items of the topology table, which tell the next deployment to keep them.
 * Functions read the catalogues next to them instead.
 *
 * | pk | holds |
 * |---|---|
 * | `applied#shop` | `definition`: `{"shards": 16, "retention": …, "sealed": …}` |
 * | `applied#shop#index#buyer_index` | `definition`: the index, JSON |
 * | `applied#shop#trigger#confirm_order` | `definition`: the trigger and its queues, JSON |
 *
 * One item each, since one item takes 400 KB at most. `superseded_by`: the hash of the desired state of a deployment
 * that defines the same. A rollback may need the item, so it stays until the next such deployment.
 */
export interface AppliedDatastore {
  readonly name: string;
  /** Undefined if a deployment defines the datastore itself. */
  readonly shards: number | undefined;
  /** @default cells are kept for good, or as a deployment says */
  readonly retention?: readonly RetentionRule[];
  readonly sealed?: readonly SealedFields[];
  readonly indexes: readonly IndexDefinition[];
  readonly triggers: readonly DeployedTrigger[];
  readonly records: readonly AppliedRecord[];
}

interface AppliedName {
  readonly kind: 'datastore' | 'index' | 'trigger';
  readonly datastore: string;
  readonly name: string;
}

/** The record of an applied definition. */
interface AppliedRecord extends AppliedName {
  /** The hash of the desired state of the deployment that defines it now: see `forgetDeployed`. */
  readonly superseded_by?: string;
}

const KEY = /^applied#([^#]+)(?:#(index|trigger)#([^#]+))?$/u;

function keyOf({ kind, datastore, name }: AppliedName): string {
  return kind === 'datastore' ? `applied#${datastore}` : `applied#${datastore}#${kind}#${name}`;
}

/** Reads all applied definitions, by datastore, past every cache. */
export async function readApplied(table: DynamoTable): Promise<readonly AppliedDatastore[]> {
  const found = (await allItems(table)).flatMap((item) => toApplied(item) ?? []);
  return [...groupBy(found, ({ record }) => record.datastore)].map(([name, all]) => {
    const of = <Definition>(kind: AppliedName['kind']): readonly Definition[] =>
      all.filter(({ record }) => record.kind === kind).map(({ definition }) => definition as Definition);
    const [own] = of<Pick<AppliedDatastore, 'shards' | 'retention' | 'sealed'>>('datastore');
    return {
      name,
      shards: own?.shards,
      ...(own?.retention && { retention: own.retention }),
      ...(own?.sealed && { sealed: own.sealed }),
      indexes: of('index'),
      triggers: of('trigger'),
      records: all.map(({ record }) => record),
    };
  });
}

/** Reads those of one datastore; returns undefined if it has none. */
export async function readAppliedDatastore(
  table: DynamoTable,
  datastore: string,
): Promise<AppliedDatastore | undefined> {
  return (await readApplied(table)).find(({ name }) => name === datastore);
}

/** Returns the name of the applied datastore in an item of the table; none for another item. */
export function toAppliedName({ pk }: StateItem): readonly string[] {
  const [, datastore, part] = KEY.exec(pk?.S ?? '') ?? [];
  return datastore === undefined || part !== undefined ? [] : [datastore];
}

function toApplied(item: StateItem): { readonly record: AppliedRecord; readonly definition: unknown } | undefined {
  const [, datastore, part = 'datastore', name = datastore] = KEY.exec(item['pk']?.S ?? '') ?? [];
  if (datastore === undefined || name === undefined) return undefined;
  const superseded_by = item['superseded_by']?.S;
  const kind = part as AppliedName['kind'];
  const record = { kind, datastore, name, ...(superseded_by !== undefined && { superseded_by }) };
  return { record, definition: JSON.parse(item['definition']?.S ?? '{}') };
}

export async function writeApplied(table: DynamoTable, name: AppliedName, definition: object): Promise<void> {
  await putState(table, keyOf(name), { definition: { S: JSON.stringify(definition) } });
}

/** Records the hash of the desired state that defines it now; null: none does. Does nothing if it was never applied. */
export async function supersedeApplied(table: DynamoTable, name: AppliedName, desired: string | null): Promise<void> {
  const superseded_by = desired === null ? undefined : { S: desired };
  await setState(table, keyOf(name), { superseded_by }, { condition: 'attribute_exists(pk)' });
}

/** Deletes a record, so that deployments do not keep its definition. */
export async function forgetApplied(table: DynamoTable, name: AppliedName): Promise<void> {
  await deleteState(table, keyOf(name));
}

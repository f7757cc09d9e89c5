import type {
  DatastoreDefinition,
  Definitions,
  IndexDefinition,
  RetentionRule,
  SealedFields,
} from '../definitions/definitions.ts';
import { deleteState, putState, readState, type StateItem, setState } from '../dynamo/state-table.ts';
import { type DynamoTable, allItems } from '../dynamo/table.ts';
import { groupBy } from '../group-by.ts';
import type { DeployedTrigger } from './topology.ts';

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

/**
 * What was defined through the API, and not by a deployment: items of the topology table, by which the next deployment
 * knows that nobody wished them gone. What functions go by is in the catalogues beside them.
 *
 * | pk | holds |
 * |---|---|
 * | `applied#shop` | `definition`: `{"shards": 16, "retention": …, "sealed": …}` |
 * | `applied#shop#index#buyer_index` | `definition`: the index, JSON |
 * | `applied#shop#trigger#confirm_order` | `definition`: the trigger and its queues, JSON |
 *
 * One item each: all of a datastore's together could outgrow the 400 KB of one. `superseded_by` is the wish of a
 * deployment that defines the same: it is kept until another one does, too, since that one may be rolled back.
 */
export interface AppliedDatastore {
  readonly name: string;
  /** Undefined where the datastore itself is a deployment's. */
  readonly shards: number | undefined;
  /** @default cells are kept for good, or as a deployment says */
  readonly retention?: readonly RetentionRule[];
  readonly sealed?: readonly SealedFields[];
  readonly indexes: readonly IndexDefinition[];
  readonly triggers: readonly DeployedTrigger[];
  readonly records: readonly AppliedRecord[];
}

type AppliedDefinition =
  | {
      readonly kind: 'datastore';
      readonly datastore: string;
      readonly shards: number;
      readonly retention?: readonly RetentionRule[];
      readonly sealed?: readonly SealedFields[] | undefined;
    }
  | { readonly kind: 'index'; readonly datastore: string; readonly index: IndexDefinition }
  | { readonly kind: 'trigger'; readonly datastore: string; readonly trigger: DeployedTrigger };

interface AppliedName {
  readonly kind: AppliedDefinition['kind'];
  readonly datastore: string;
  readonly name: string;
}

/** That something was applied, and what became of it since. */
interface AppliedRecord extends AppliedName {
  /** The wish of the deployment that defines it now: see `forgetDeployed`. */
  readonly superseded_by?: string;
}

const KEY = /^applied#([^#]+)(?:#(index|trigger)#([^#]+))?$/u;

function keyOf({ kind, datastore, name }: AppliedName): string {
  return kind === 'datastore' ? `applied#${datastore}` : `applied#${datastore}#${kind}#${name}`;
}

/** Everything that was applied, by datastore, past every cache. */
export async function readApplied(table: DynamoTable): Promise<readonly AppliedDatastore[]> {
  const found = (await allItems(table)).flatMap((item) => toApplied(item) ?? []);
  return [...groupBy(found, ({ record }) => record.datastore)].map(([name, all]) => {
    const definitions = all.map(({ definition }) => definition);
    const own = definitions.find((one) => one.kind === 'datastore');
    return {
      name,
      shards: own?.shards,
      ...(own?.retention && { retention: own.retention }),
      ...(own?.sealed && { sealed: own.sealed }),
      indexes: definitions.flatMap((one) => (one.kind === 'index' ? [one.index] : [])),
      triggers: definitions.flatMap((one) => (one.kind === 'trigger' ? [one.trigger] : [])),
      records: all.map(({ record }) => record),
    };
  });
}

/** The same of one datastore; undefined where nothing of it was applied. */
export async function readAppliedDatastore(
  table: DynamoTable,
  datastore: string,
): Promise<AppliedDatastore | undefined> {
  return (await readApplied(table)).find(({ name }) => name === datastore);
}

/** The name of the datastore that an item of the table says was applied; none where the item is another one. */
export function toAppliedName({ pk }: StateItem): readonly string[] {
  const [, datastore, part] = KEY.exec(pk?.S ?? '') ?? [];
  return datastore === undefined || part !== undefined ? [] : [datastore];
}

function toApplied(item: StateItem) {
  const [, datastore, part = 'datastore', named] = KEY.exec(item['pk']?.S ?? '') ?? [];
  if (datastore === undefined) return undefined;
  const kind = part as AppliedDefinition['kind'];
  const superseded_by = item['superseded_by']?.S;
  const record: AppliedRecord = {
    kind,
    datastore,
    name: named ?? datastore,
    ...(superseded_by !== undefined && { superseded_by }),
  };
  return { definition: definitionOf(record, JSON.parse(item['definition']?.S ?? '{}')), record };
}

function definitionOf({ kind, datastore }: AppliedName, definition: unknown): AppliedDefinition {
  if (kind === 'index') return { kind, datastore, index: definition as IndexDefinition };
  if (kind === 'trigger') return { kind, datastore, trigger: definition as DeployedTrigger };
  const { shards, retention, sealed } = Object(definition) as DatastoreDefinition;
  return { kind, datastore, shards: Number(shards), ...(retention && { retention }), ...(sealed && { sealed }) };
}

export async function writeApplied(table: DynamoTable, applied: AppliedDefinition): Promise<void> {
  const { kind, datastore } = applied;
  const [name, definition] =
    kind === 'datastore'
      ? [datastore, { shards: applied.shards, retention: applied.retention, sealed: applied.sealed }]
      : kind === 'index'
        ? [applied.index.name, applied.index]
        : [applied.trigger.definition.name, applied.trigger];
  await putState(table, keyOf({ kind, datastore, name }), { definition: { S: JSON.stringify(definition) } });
}

/** Notes which wish defines it now; null: none does. Nothing where it was never applied. */
export async function supersedeApplied(table: DynamoTable, name: AppliedName, wish: string | null): Promise<void> {
  const superseded_by = wish === null ? undefined : { S: wish };
  await setState(table, keyOf(name), { superseded_by }, { condition: 'attribute_exists(pk)' });
}

/** A deployment does not keep it any more. */
export async function forgetApplied(table: DynamoTable, name: AppliedName): Promise<void> {
  await deleteState(table, keyOf(name));
}

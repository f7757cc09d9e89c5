import { hash } from 'node:crypto';
import type { IndexDefinition } from '../definitions/definitions.ts';
import { changeItem, type ItemChange } from '../dynamo/change-item.ts';
import type { StateItem } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';

/**
 * Which versions of which indexes there are: items of the topology table, read and cached with it.
 *
 * | pk | holds |
 * |---|---|
 * | `index#trips#driver_partner_index` | `catalogue`: its versions, JSON; `version`: see `changeItem` |
 *
 * A version that is building or live has its table in every shard that is open: tables are created before the version
 * is listed, and dropped once it is retired, before it is forgotten. A retired version never comes back: where its
 * definition is wished again, that is another version, with another hash and empty tables.
 */
export interface IndexCatalogue {
  readonly name: string;
  /** In the order in which they came. At most one is live. */
  readonly versions: readonly IndexVersion[];
}

/** A definition that an index has or had, with a table of its own in every shard: `<name>_<hash>`. */
export interface IndexVersion {
  /** See `definitionHash`. Unlike that of any other version listed. */
  readonly hash: string;
  readonly definition: IndexDefinition;
  readonly state: IndexState;
  /** When it was retired: RFC 3339, UTC. */
  readonly retired_at?: string;
}

/**
 * - `building`: kept by every write, and being filled from the start of the logs; answers nothing yet.
 * - `live`: answers queries.
 * - `retired`: neither kept nor asked any more; its tables are to be dropped.
 */
export type IndexState = 'building' | 'live' | 'retired';

/**
 * Names a definition by what it says: the first eight hexadecimal digits of the SHA-256 of its fields and keys.
 * `round`: 1, 2, … where versions of the same definition were retired and not forgotten yet @default 0.
 */
export function definitionHash({ fields, keys }: IndexDefinition, round = 0): string {
  const said = {
    fields: fields.map(({ field, type, column_key, sealed }) => ({
      field,
      type,
      column_key,
      ...(sealed && { sealed }),
    })),
    keys,
    ...(round > 0 && { round }),
  };
  return hash('sha256', JSON.stringify(said), 'hex').slice(0, 8);
}

/** Makes a catalogue of an item of the topology table; undefined when the item is something else. */
export function toIndexCatalogue(
  item: StateItem,
): { readonly datastore: string; readonly catalogue: IndexCatalogue } | undefined {
  const [, datastore, name] = /^index#([^#]+)#([^#]+)$/u.exec(item['pk']?.S ?? '') ?? [];
  return datastore === undefined || name === undefined
    ? undefined
    : { datastore, catalogue: { name, versions: versionsOf(item) } };
}

export interface IndexName {
  readonly datastore: string;
  readonly name: string;
}

/**
 * Changes an index's versions, whatever others change beside it: what `change` makes of them is written only over what
 * it was made of, and made again otherwise. `change`: returns the versions it was given when there is nothing to
 * change: then nothing is written. Returns the versions as they are then.
 */
export function changeIndexVersions(
  table: DynamoTable,
  index: IndexName,
  change: (versions: readonly IndexVersion[]) => readonly IndexVersion[],
): Promise<readonly IndexVersion[]> {
  return changeItem(table, indexKey(index), (item): ItemChange<readonly IndexVersion[]> => {
    const versions = versionsOf(item);
    const changed = change(versions);
    return { result: changed, ...(changed !== versions && { values: { catalogue: { S: JSON.stringify(changed) } } }) };
  });
}

/**
 * Moves a version from one state to another, unless it has another one by now. Where it becomes live, the one that was
 * live so far is retired with the same write. Returns whether it was in the state `from`.
 */
export async function setIndexState(
  table: DynamoTable,
  index: IndexName,
  hash: string,
  from: IndexState,
  to: IndexState,
): Promise<boolean> {
  let moved = false;
  await changeIndexVersions(table, index, (versions) => {
    moved = versions.some((version) => version.hash === hash && version.state === from);
    if (!moved || from === to) return versions;
    return versions.map((version) => {
      if (version.hash === hash) return inState(version, to);
      return to === 'live' && version.state === 'live' ? inState(version, 'retired') : version;
    });
  });
  return moved;
}

/**
 * Takes a retired version out of the catalogue, after its tables were dropped. Returns whether it was there, retired.
 */
export async function forgetIndexVersion(table: DynamoTable, index: IndexName, hash: string): Promise<boolean> {
  let found = false;
  await changeIndexVersions(table, index, (versions) => {
    const left = versions.filter((version) => version.hash !== hash || version.state !== 'retired');
    found = left.length < versions.length;
    return found ? left : versions;
  });
  return found;
}

/** The version in another state, with what belongs to that state. */
export function inState(version: IndexVersion, state: IndexState, now = new Date()): IndexVersion {
  const { retired_at: _retiredAt, ...rest } = version;
  return { ...rest, state, ...(state === 'retired' && { retired_at: now.toISOString() }) };
}

export const indexKey = ({ datastore, name }: IndexName): string => `index#${datastore}#${name}`;

export function versionsOf(item: StateItem | undefined): readonly IndexVersion[] {
  return JSON.parse(item?.['catalogue']?.S ?? '[]') as IndexVersion[];
}

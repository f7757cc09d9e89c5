import { hash } from 'node:crypto';
import type { IndexDefinition } from '../definitions/definitions.ts';
import { changeItem, type ItemChange } from '../dynamo/change-item.ts';
import type { StateItem } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';

/**
 * The versions of indexes, as items of the topology table, read and cached with it.
 *
 * | pk | holds |
 * |---|---|
 * | `index#trips#driver_partner_index` | `catalogue`: its versions, JSON; `version`: see `changeItem` |
 *
 * A building or live version has its table in every open shard. Tables are created before the version is listed, and
 * dropped after it is retired, before it is forgotten. A retired version never returns: if its definition is desired
 * again, that is another version, with another hash and empty tables.
 */
export interface IndexCatalogue {
  readonly name: string;
  /** In the order in which they were added. At most one is live. */
  readonly versions: readonly IndexVersion[];
}

/** A definition that an index has or had, with a table of its own in every shard: `<name>_<hash>`. */
export interface IndexVersion {
  /** See `definitionHash`. Unique among the listed versions. */
  readonly hash: string;
  readonly definition: IndexDefinition;
  readonly state: IndexState;
  /** When it was retired: RFC 3339, UTC. */
  readonly retired_at?: string;
}

/**
 * - `building`: maintained by every write, and filled from the start of the logs; answers no queries yet.
 * - `live`: answers queries.
 * - `retired`: neither maintained nor queried; its tables will be dropped.
 */
export type IndexState = 'building' | 'live' | 'retired';

/**
 * Returns the first eight hexadecimal digits of the SHA-256 of a definition's fields and keys. `round`: 1, 2, … if
 * versions of the same definition were retired and not forgotten yet @default 0.
 */
export function definitionHash({ fields, keys }: IndexDefinition, round = 0): string {
  const hashed = {
    fields: fields.map(({ field, type, column_key, sealed }) => ({
      field,
      type,
      column_key,
      ...(sealed && { sealed }),
    })),
    keys,
    ...(round > 0 && { round }),
  };
  return hash('sha256', JSON.stringify(hashed), 'hex').slice(0, 8);
}

/** Parses an item of the topology table; returns undefined if it is no catalogue. */
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
 * Changes an index's versions with optimistic concurrency: writes the result of `change` only over its input, and calls
 * `change` again otherwise. Writes nothing if `change` returns the array that it was given. Returns the versions as
 * they are then.
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
 * Moves a version from one state to another, unless its state has changed by now. If it becomes live, the same write
 * retires the former live version. Returns whether it was in the state `from`.
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

/** Removes a retired version from the catalogue, after its tables were dropped. Returns whether it was there. */
export async function forgetIndexVersion(table: DynamoTable, index: IndexName, hash: string): Promise<boolean> {
  let found = false;
  await changeIndexVersions(table, index, (versions) => {
    const left = versions.filter((version) => version.hash !== hash || version.state !== 'retired');
    found = left.length < versions.length;
    return found ? left : versions;
  });
  return found;
}

/** Returns the version in another state, with the time if that is `retired`. */
export function inState(version: IndexVersion, state: IndexState, now = new Date()): IndexVersion {
  const { retired_at: _retiredAt, ...rest } = version;
  return { ...rest, state, ...(state === 'retired' && { retired_at: now.toISOString() }) };
}

export const indexKey = ({ datastore, name }: IndexName): string => `index#${datastore}#${name}`;

export function versionsOf(item: StateItem | undefined): readonly IndexVersion[] {
  return JSON.parse(item?.['catalogue']?.S ?? '[]') as IndexVersion[];
}

import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { readState, updateState, type StateItem } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { ShardCopy } from './topology.ts';

/**
 * The groups of shards and of their copies, which a move changes: attributes of the datastore's item of the topology
 * table. One write decides for all processes.
 *
 * | attribute | holds |
 * |---|---|
 * | `moving` | by shard: `{"to": "group-4", "entries": true, "id": "…"}`: the group of its copy, whether writers maintain entries there, and the move |
 *
 * A shard of the map has a copy, or is about to have one: no other move of it begins.
 */
export interface MovingShard {
  readonly datastore: string;
  readonly shard: number;
}

/** A move in the topology: its id, and the group of the copy. */
interface OwnMoving extends MovingShard {
  readonly id: string;
  readonly to: string;
}

/** Reserves a shard for a move. Returns false if it has a copy already, or another owner. */
export async function beginMoving(
  table: DynamoTable,
  moving: MovingShard,
  { from, to, id }: { readonly from: string; readonly to: string; readonly id: string },
): Promise<boolean> {
  const seen = await read(table, moving);
  if (!seen || seen.owner !== from) return false;
  if (!seen.hasMap)
    await update(table, moving, {
      update: 'SET #moving = if_not_exists(#moving, :none)',
      condition: 'attribute_exists(pk)',
      values: { ':none': { M: {} } },
    });
  return update(table, moving, {
    update: 'SET #moving.#shard = :copy',
    condition: `attribute_not_exists(#moving.#shard) AND owners[${moving.shard}] = :owner`,
    values: { ':copy': toItem({ group: to, takesEntries: false, move: id }), ':owner': seen.number },
  });
}

/** Makes writers of entries write them to the copy as well. Returns false if the copy is another move's. */
export async function announceCopy(table: DynamoTable, moving: OwnMoving): Promise<boolean> {
  const copy = toItem({ group: moving.to, takesEntries: true, move: moving.id });
  return update(table, moving, {
    update: 'SET #moving.#shard = :copy',
    condition: IS_STILL,
    values: { ...valuesOf(moving), ':copy': copy },
  });
}

/**
 * Begins an attempt to switch, which invalidates earlier ones. Call it before closing the shard, and before reopening
 * one that an interrupted attempt closed. Returns the shard in the topology; undefined if it has another owner by now,
 * or the copy is another move's.
 */
export async function beginAttempt(
  table: DynamoTable,
  moving: OwnMoving & { readonly from: string },
  attempt: string,
): Promise<SeenShard | undefined> {
  const seen = await read(table, moving);
  if (!seen || seen.owner !== moving.from) return undefined;
  const isBegun = await update(table, moving, {
    update: 'SET #moving.#shard.#attempt = :attempt',
    condition: `owners[${moving.shard}] = :owner AND ${IS_STILL}`,
    values: { ...valuesOf(moving), ':owner': seen.number, ':attempt': { S: attempt } },
  });
  return isBegun ? seen : undefined;
}

/** Returns whether no attempt has begun since this one. */
export async function isLastAttempt(table: DynamoTable, moving: MovingShard, attempt: string): Promise<boolean> {
  const item = await readState(table, keyOf(moving));
  return item?.['moving']?.M?.[moving.shard]?.M?.['attempt']?.S === attempt;
}

/**
 * Makes the copy the shard, with a new epoch, and the former shard its copy, in one write. Later readers of the
 * topology use the new group. `seen`: the result of `beginAttempt`. Returns false if the shard, its epoch, its copy or
 * the attempt is another by now.
 */
export async function switchHome(
  table: DynamoTable,
  moving: OwnMoving & { readonly from: string; readonly epoch: number; readonly attempt: string },
  seen: SeenShard,
): Promise<boolean> {
  const { shard, from, to, epoch, id, attempt } = moving;
  const known = seen.names.indexOf(to);
  return update(table, moving, {
    update:
      `SET owners[${shard}] = :new, epochs[${shard}] = :epoch, #moving.#shard = :copy` +
      (known < 0 ? ', #names = list_append(#names, :name)' : ''),
    condition: `owners[${shard}] = :owner AND epochs[${shard}] < :epoch AND #moving.#shard.#attempt = :attempt AND ${IS_STILL} AND size(#names) = :size`,
    values: {
      ...valuesOf(moving),
      ':new': { N: String(known < 0 ? seen.names.length : known) },
      ':epoch': { N: String(epoch) },
      ':copy': toItem({ group: from, takesEntries: true, move: id }),
      ':owner': seen.number,
      ':attempt': { S: attempt },
      ':size': { N: String(seen.names.length) },
      ...(known < 0 && { ':name': { L: [{ S: to }] } }),
    },
  });
}

/** Removes a shard's copy from the topology. Does nothing if the copy is another move's by now. */
export async function endMoving(table: DynamoTable, moving: OwnMoving): Promise<void> {
  await update(table, moving, {
    update: 'REMOVE #moving.#shard',
    condition: IS_STILL,
    values: valuesOf(moving),
  });
}

/** The copy is this move's. */
const IS_STILL = '#moving.#shard.#id = :id AND #moving.#shard.#to = :to';

const valuesOf = ({ id, to }: OwnMoving): StateItem => ({ ':id': { S: id }, ':to': { S: to } });

/** Parses a copy of an item. */
export function toCopy(value: AttributeValue): ShardCopy {
  const { to, entries, id } = value.M ?? {};
  return { group: to?.S ?? '', takesEntries: entries?.BOOL ?? false, move: id?.S ?? '' };
}

function toItem({ group, takesEntries, move }: ShardCopy): AttributeValue {
  return { M: { to: { S: group }, entries: { BOOL: takesEntries }, id: { S: move } } };
}

export interface SeenShard {
  /** The group that owns it, and its number among the names. */
  readonly owner: string | undefined;
  readonly number: AttributeValue;
  readonly names: readonly string[];
  readonly hasMap: boolean;
}

const keyOf = ({ datastore }: MovingShard): string => `datastore#${datastore}`;

async function read(table: DynamoTable, moving: MovingShard): Promise<SeenShard | undefined> {
  const item = await readState(table, keyOf(moving));
  const number = item?.['owners']?.L?.[moving.shard];
  if (!item || !number) return undefined;
  const names = (item['names']?.L ?? []).map(({ S }) => S ?? '');
  return { owner: names[Number(number.N)], number, names, hasMap: item['moving']?.M !== undefined };
}

/** Updates the item. Returns whether the condition held. `#shard` is the shard's number. */
async function update(
  table: DynamoTable,
  moving: MovingShard,
  change: { readonly update: string; readonly condition: string; readonly values: StateItem },
): Promise<boolean> {
  const names = { '#shard': String(moving.shard) };
  return (await updateState(table, { key: keyOf(moving), names, ...change })) !== undefined;
}

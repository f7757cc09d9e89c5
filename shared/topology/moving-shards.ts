import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { readState, updateState, type StateItem } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import type { ShardCopy } from './topology.ts';

/**
 * Where shards are, and where their copies, as a move changes it: attributes of the datastore's own item of the topology
 * table, so that one write decides for everybody who holds a shard.
 *
 * | attribute | holds |
 * |---|---|
 * | `moving` | by shard: `{"to": "group-4", "entries": true, "id": "…"}`: who holds its copy, whether writers keep entries there, and for which move |
 *
 * A shard of the list has a copy, or is about to have one: no other move of it begins.
 */
export interface MovingShard {
  readonly datastore: string;
  readonly shard: number;
}

/** A move, as far as the topology knows it: its id, and who holds the copy. */
interface OwnMoving extends MovingShard {
  readonly id: string;
  readonly to: string;
}

/** Takes a shard for a move. Returns false where it has a copy already, or is elsewhere. */
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

/** From here on whoever writes entries writes them to the copy, too. Returns false where the copy is another's. */
export async function announceCopy(table: DynamoTable, moving: OwnMoving): Promise<boolean> {
  const copy = toItem({ group: moving.to, takesEntries: true, move: moving.id });
  return update(table, moving, {
    update: 'SET #moving.#shard = :copy',
    condition: IS_STILL,
    values: { ...valuesOf(moving), ':copy': copy },
  });
}

/**
 * Begins an attempt to switch: what an earlier one is still at decides nothing any more. Asked for before the shard is
 * closed, and before what an attempt that was cut off has closed is opened again. Returns what the topology says of the
 * shard; undefined where it is elsewhere by now, or the copy is another move's.
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
 * Makes the copy the shard, with a new epoch, and what was the shard its copy. One write: whoever reads the topology
 * from then on goes to the new group. `seen`: when the attempt was begun. Returns false where the shard, its epoch, its
 * copy or the attempt is another by now.
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

/** The shard has no copy any more. Nothing where it has that of another move by now. */
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

/** A copy as the item holds it. */
export function toCopy(value: AttributeValue): ShardCopy {
  const { to, entries, id } = value.M ?? {};
  return { group: to?.S ?? '', takesEntries: entries?.BOOL ?? false, move: id?.S ?? '' };
}

function toItem({ group, takesEntries, move }: ShardCopy): AttributeValue {
  return { M: { to: { S: group }, entries: { BOOL: takesEntries }, id: { S: move } } };
}

export interface SeenShard {
  /** The group that holds it, and its number among the names. */
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

/** Returns whether the item was as the condition wants it. `#shard` is the shard's number. */
async function update(
  table: DynamoTable,
  moving: MovingShard,
  change: { readonly update: string; readonly condition: string; readonly values: StateItem },
): Promise<boolean> {
  const names = { '#shard': String(moving.shard) };
  return (await updateState(table, { key: keyOf(moving), names, ...change })) !== undefined;
}

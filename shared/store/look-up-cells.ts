import { parseAddedId, parseBatch, parseKey, parseRead, shardOf } from '../address.ts';
import { LIMITS, type CellKey } from '../cell.ts';
import { selectCells, type ShardKey } from '../sql/statements/select-cells.ts';
import type { Statement } from '../sql/client.ts';
import { readGroup, type GroupItem } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { decodeSizedCell, noRoomLeft } from '../access/decode.ts';
import { byGroup, homeOf, requireDatastore } from '../access/groups.ts';
import { batchedByKey } from '../batched.ts';
import type { Found, StoreReadOptions } from '../contract/datastore.ts';
import { told, type LookedUp, type LookUps } from './look-ups.ts';
import { explained, isErased, type ReadFrom } from './why-erased.ts';

const LOOK_UPS_OF_A_GROUP = 2;

interface LookUp extends ReadFrom {
  readonly wanted: readonly ShardKey[];
}

interface CellLookUps extends LookUps {
  find(key: CellKey, options: StoreReadOptions): Promise<Found>;
}

/** Looks up cells by key; concurrent look-ups of a group share a statement. */
export function cellLookUps(context: StoreContext, name: string, shards: number): CellLookUps {
  const lookUp = batchLookUps(context);

  /** Asks for items in order. They take one place of the admission, as those of a `batchGet`. */
  function ask(wanted: LookUp): Promise<readonly GroupItem[]> {
    return context.admit(wanted.group, () => lookUp(wanted));
  }

  return {
    async find({ row_key, column_name, ref_key }, options) {
      const key: CellKey = { row_key, column_name, ref_key, min_added_id: parseAddedId(options.min_added_id) };
      const read = parseRead(options.read);
      const shard = shardOf(row_key, shards);
      const topology = await requireDatastore(context.topology, name);
      const from = { group: homeOf(topology, shard).group, read, topology };
      const [item] = await ask({ ...from, wanted: [{ key, shard }] });
      if (!item) throw new Error('an answer without its only item');
      const found = toFound(item, options);
      return isErased(found) ? explained(context, from, item, found) : found;
    },

    async findEach(keys, options, tell) {
      const read = parseRead(options.read);
      const min_added_id = parseAddedId(options.min_added_id);
      const wanted = parseBatch(keys, 'keys', parseKey).map(({ row_key, column_name, ref_key }, position) => ({
        position,
        key: { row_key, column_name, ref_key, min_added_id },
        shard: shardOf(row_key, shards),
      }));
      const topology = await requireDatastore(context.topology, name);
      await Promise.all(
        [...byGroup(topology, wanted)].map(async ([group, some]) => {
          const from = { group, read, topology };
          const items = await ask({ ...from, wanted: some }).catch((error: unknown) => some.map(() => ({ error })));
          const explaining: Promise<void>[] = [];
          for (const [at, { position }] of some.entries()) {
            const item = items[at] as GroupItem;
            const found = lookedUp(item, options);
            if (!('error' in found) && isErased(found))
              explaining.push(told(explained(context, from, item, found), (whole) => tell(position, whole)));
            else tell(position, found);
          }
          await Promise.all(explaining);
        }),
      );
    },
  };
}

/** Throws the item's error, or `answer_too_large` if the shared answer is full. */
function toFound(item: GroupItem, { packed, room }: StoreReadOptions): Found {
  if (item.error) throw item.error;
  const { cells, served_by, stale } = item;
  const decoded = cells[0] && decodeSizedCell(cells[0], packed);
  if (decoded && room?.take(decoded) === false) throw noRoomLeft();
  return { cell: decoded?.cell ?? null, served_by, stale };
}

function lookedUp(item: GroupItem, options: StoreReadOptions): LookedUp {
  try {
    return toFound(item, options);
  } catch (error) {
    return { error };
  }
}

function batchLookUps(context: StoreContext): (one: LookUp) => Promise<readonly GroupItem[]> {
  return batchedByKey<LookUp, readonly GroupItem[]>(
    {
      atOnce: LOOK_UPS_OF_A_GROUP,
      fits: (taken, { topology, wanted }) =>
        topology === taken[0].topology && countOf(taken) + wanted.length <= LIMITS.batchCells,
      async run(some) {
        const [{ group, read, topology }] = some;
        const wanted = some.flatMap((one) => one.wanted);
        const statement = (positions: readonly number[]): Statement =>
          selectCells(
            topology,
            positions.length === wanted.length ? wanted : positions.map((position) => wanted[position] as ShardKey),
            true,
          );
        const items = await readGroup(await context.groups.client(group), group, {
          statement,
          minima: wanted.map(({ key }) => key.min_added_id),
          read,
        });
        let at = 0;
        return some.map((one) => items.slice(at, (at += one.wanted.length)));
      },
    },
    ({ group, read }) => `${group}/${read}`,
  );
}

function countOf(some: readonly LookUp[]): number {
  return some.reduce((sum, { wanted }) => sum + wanted.length, 0);
}

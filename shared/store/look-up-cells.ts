import { parseMinimum } from '../address.ts';
import { LIMITS, type CellKey, type Role } from '../cell.ts';
import { shardOf } from '../shard.ts';
import { selectCells, type ShardKey } from '../sql/statements/select-cells.ts';
import type { Statement } from '../sql/client.ts';
import { noRoomLeft } from '../access/answer-room.ts';
import { placeOf, type StoreContext } from '../access/context.ts';
import { decodeSizedCell } from '../access/decode.ts';
import { requireDatastore } from '../access/groups.ts';
import { joinedByKey } from '../access/joined.ts';
import { parseRead } from '../access/parse.ts';
import { readGroup, type GroupItem } from '../access/read-group.ts';
import type { Found, ReadOptions } from '../contract/datastore.ts';

/** Statements that look up cells of a group at a time: as many as its servers may work on side by side. */
const LOOK_UPS_OF_A_GROUP = 2;

interface LookUp {
  readonly group: string;
  readonly read: Role;
  readonly wanted: ShardKey;
}

/**
 * Looks up single cells of a datastore, those that are wanted of a group at the same time in one statement. Without a
 * ref key: the latest.
 */
export function cellLookUps(
  context: StoreContext,
  name: string,
  shards: number,
): (key: CellKey, options: ReadOptions) => Promise<Found> {
  const lookUp = joinLookUps(context, name);
  return async ({ row_key, column_name, ref_key }, options) => {
    const key: CellKey = { row_key, column_name, ref_key, min_added_id: parseMinimum(options.min_added_id) };
    const read = parseRead(options.read);
    const shard = shardOf(row_key, shards);
    const { group } = placeOf(await requireDatastore(context.topology, name), shard);
    const found = await context.admit(group, () => lookUp({ group, read, wanted: { key, shard } }));
    if (found.error) throw found.error;
    const { cells, served_by, stale } = found;
    const decoded = cells[0] && decodeSizedCell(cells[0], options.packed);
    if (decoded && options.room?.take(decoded) === false) throw noRoomLeft();
    return { cell: decoded?.cell ?? null, served_by, stale };
  };
}

function joinLookUps(context: StoreContext, name: string): (one: LookUp) => Promise<GroupItem> {
  return joinedByKey<LookUp, GroupItem>(
    {
      atOnce: LOOK_UPS_OF_A_GROUP,
      fits: ({ length }) => length < LIMITS.batchCells,
      async run(some) {
        const [{ group, read }] = some;
        const statement = (places: readonly number[]): Statement =>
          selectCells(
            name,
            places.flatMap((place) => some[place]?.wanted ?? []),
            true,
          );
        return readGroup(await context.groups.client(group), group, {
          statement,
          minima: some.map(({ wanted }) => wanted.key.min_added_id),
          read,
        });
      },
    },
    ({ group, read }) => `${group}/${read}`,
  );
}

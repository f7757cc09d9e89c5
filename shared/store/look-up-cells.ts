import { parseAddedId, parseBatch, parseKey, parseRead, shardOf } from '../address.ts';
import { LIMITS, type Cell, type CellKey, type ErasedBy, type Role } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import { byItem, type StoredCell } from '../sql/cell-rows.ts';
import { retentionOf, shownRetention, type RetentionRules } from '../sql/hidden-cells.ts';
import { selectCells, type ShardKey } from '../sql/statements/select-cells.ts';
import { selectErasures } from '../sql/statements/select-erasures.ts';
import type { Statement } from '../sql/client.ts';
import { unionOf } from '../sql/union.ts';
import { askEither, readGroup, type GroupItem } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { decodeCell, decodeSizedCell, noRoomLeft } from '../access/decode.ts';
import { byGroup, homeOf, requireDatastore } from '../access/groups.ts';
import { joinedByKey } from '../access/joined.ts';
import type { Found, ReadOptions } from '../contract/datastore.ts';
import { told, type LookedUp, type LookUps } from './look-ups.ts';

/** Statements that look up cells of a group at a time: as many as its servers may work on side by side. */
const LOOK_UPS_OF_A_GROUP = 2;

/** Of whom cells are read, and by which rules. */
interface ReadFrom {
  readonly group: string;
  readonly read: Role;
  /** The same object for all that are read by the same topology. */
  readonly rules: RetentionRules;
}

interface LookUp extends ReadFrom {
  /** One, or some that came together. */
  readonly wanted: readonly ShardKey[];
}

export interface CellLookUps extends LookUps {
  /** One cell, by a key that was checked. Without a ref key: the latest. */
  find(key: CellKey, options: ReadOptions): Promise<Found>;
}

/** Looks up cells of a datastore by their keys, those that are wanted of a group at the same time in one statement. */
export function cellLookUps(context: StoreContext, name: string, shards: number): CellLookUps {
  const lookUp = joinLookUps(context, name);

  /**
   * Items in the order of what is wanted. They take one place of the admission, as those of a `batchGet` do: what bounds
   * them is how many go in a statement, and how many statements are under way.
   */
  function ask(wanted: LookUp): Promise<readonly GroupItem[]> {
    return context.admit(wanted.group, () => lookUp(wanted));
  }

  async function explained(from: ReadFrom, item: GroupItem, found: Found): Promise<Found> {
    const [stored] = item.error ? [] : item.cells;
    return found.cell && stored ? { ...found, ...(await whyErased(context, name, from, stored, found.cell)) } : found;
  }

  return {
    async find({ row_key, column_name, ref_key }, options) {
      const key: CellKey = { row_key, column_name, ref_key, min_added_id: parseAddedId(options.min_added_id) };
      const read = parseRead(options.read);
      const shard = shardOf(row_key, shards);
      const topology = await requireDatastore(context.topology, name);
      const from = { group: homeOf(topology, shard).group, read, rules: topology.retention };
      const [item] = await ask({ ...from, wanted: [{ key, shard }] });
      if (!item) throw new Error('an answer without its only item');
      const found = toFound(item, options);
      return found.cell?.erased === true ? explained(from, item, found) : found;
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
      const rules = topology.retention;
      await Promise.all(
        [...byGroup(topology, wanted)].map(async ([group, some]) => {
          const from = { group, read, rules };
          const items = await ask({ ...from, wanted: some }).catch((error: unknown) => some.map(() => ({ error })));
          const explaining: Promise<void>[] = [];
          for (const [at, { position }] of some.entries()) {
            const item = items[at] as GroupItem;
            const found = lookedUp(item, options);
            if (!('error' in found) && found.cell?.erased === true)
              explaining.push(told(explained(from, item, found), (whole) => tell(position, whole)));
            else tell(position, found);
          }
          await Promise.all(explaining);
        }),
      );
    },
  };
}

/** Throws what is wrong with the item, and where the answer that it shares has no room for it. */
function toFound(item: GroupItem, { packed, room }: ReadOptions): Found {
  if (item.error) throw item.error;
  const { cells, served_by, stale } = item;
  const decoded = cells[0] && decodeSizedCell(cells[0], packed);
  if (decoded && room?.take(decoded) === false) throw noRoomLeft();
  return { cell: decoded?.cell ?? null, served_by, stale };
}

function lookedUp(item: GroupItem, options: ReadOptions): LookedUp {
  try {
    return toFound(item, options);
  } catch (error) {
    return { error };
  }
}

/** Why the body of a cell is not shown. */
async function whyErased(
  context: StoreContext,
  name: string,
  from: ReadFrom,
  { hidden }: StoredCell,
  cell: Cell,
): Promise<Pick<Found, 'erasure' | 'why' | 'rule'>> {
  const erasure = hidden ? undefined : await erasedBy(context, name, from, cell);
  if (!hidden && erasure?.why !== 'retention') return erasure ? { erasure } : {};
  const rule = retentionOf(from.rules, cell.column_name);
  return { why: 'retention', ...(erasure && { erasure }), ...(rule && { rule: shownRetention(rule) }) };
}

/** Why the body of a cell is gone, and since when, as far as that can still be read. */
async function erasedBy(
  context: StoreContext,
  name: string,
  { group, read }: ReadFrom,
  cell: Cell,
): Promise<ErasedBy | undefined> {
  const statement = unionOf(selectErasures(name, cell.shard, cell, 0));
  const asked = askEither(await context.groups.client(group), group, read, statement);
  const { rows } = await asked.catch((error: unknown) => {
    if (error instanceof SchemalessError) return { rows: [] };
    throw error;
  });
  const [first] = (byItem(rows, 1)[0]?.cells ?? []).toSorted((one, other) => one.added_id - other.added_id);
  const { created_at: erased_at = '', erasure } = first ? decodeCell(first) : {};
  return erasure && { ...erasure, erased_at };
}

function joinLookUps(context: StoreContext, name: string): (one: LookUp) => Promise<readonly GroupItem[]> {
  return joinedByKey<LookUp, readonly GroupItem[]>(
    {
      atOnce: LOOK_UPS_OF_A_GROUP,
      fits: (taken, { rules, wanted }) =>
        rules === taken[0].rules && countOf(taken) + wanted.length <= LIMITS.batchCells,
      async run(some) {
        const [{ group, read, rules }] = some;
        const wanted = some.flatMap((one) => one.wanted);
        const statement = (positions: readonly number[]): Statement =>
          selectCells(
            name,
            positions.length === wanted.length ? wanted : positions.map((position) => wanted[position] as ShardKey),
            true,
            undefined,
            rules,
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

import { randomUUID } from 'node:crypto';
import { deleteState, readState, readStates, updateState, type StateItem } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { changeItem, pack, unpack } from '../../dynamo/change-item.ts';
import { blockOf, statusKey, troubledBlockKey, troubledKey, type TriggerName } from './trigger-items.ts';
import type { FailingCell, TroubledShard } from './trigger-store.ts';

/** DynamoDB keeps 400 KB an item; the rest is for cells that fail before an operator acts. */
const MAX_CELLS_BYTES = 300_000;
/** Concurrent listings may beat a removal so often; the next removal then does it. */
const TIDY_TRIES = 5;

/** Undefined for `next` writes nothing. */
export interface ShardChange<T> {
  readonly next?: Omit<TroubledShard, 'shard'>;
  readonly result: T;
}

export type TroubledShards = ReturnType<typeof troubledShards>;

/** A set of numbers in an item, with a stamp that each listing renews. */
interface List {
  readonly key: string;
  readonly set: string;
  readonly stamp: string;
}

/**
 * The items of the shards that are not in order, and their lists. Each block of shards has a list of them, and the
 * status item, which stays small, one of these blocks. A shard is listed after its item is written, and its block after
 * that. Either leaves its list only if its item is empty and nothing was listed since. A worker that died before
 * listing one has not acknowledged its message, so the next consumer lists it.
 */
export function troubledShards(table: DynamoTable, name: TriggerName) {
  const blocks: List = { key: statusKey(name), set: 'troubled_blocks', stamp: 'changes' };
  const shardsOf = (block: number): List => ({ key: troubledBlockKey(name, block), set: 'shards', stamp: 'version' });

  async function leave(shard: number): Promise<void> {
    const block = blockOf(shard);
    const { key, set } = shardsOf(block);
    const isInOrder = (item: StateItem): boolean => isEmpty(toTroubledShard(shard, item));
    if (await tidy(table, shardsOf(block), shard, troubledKey(name, shard), isInOrder))
      await tidy(table, blocks, block, key, (item) => membersOf(item, set).length === 0);
  }

  return {
    /** Returns the shards listed in these blocks, in order. */
    async listed(some: readonly number[]): Promise<readonly number[]> {
      const items = await readStates(
        table,
        some.map((block) => shardsOf(block).key),
      );
      return [...items.values()].flatMap((item) => membersOf(item, 'shards')).sort((a, b) => a - b);
    },

    async read(shards: readonly number[]): Promise<readonly TroubledShard[]> {
      const items = await readStates(
        table,
        shards.map((shard) => troubledKey(name, shard)),
      );
      return shards.flatMap((shard) => {
        const item = items.get(troubledKey(name, shard));
        const found = item && toTroubledShard(shard, item);
        return found && !isEmpty(found) ? [found] : [];
      });
    },

    /** Changes a shard; returns what `change` returned, and the status item if the shard was listed with it. */
    async change<T>(
      shard: number,
      change: (before: TroubledShard) => ShardChange<T>,
    ): Promise<{ readonly result: T; readonly status?: StateItem }> {
      const { result, next } = await changeItem<ShardChange<T>>(table, troubledKey(name, shard), (item) => {
        const changed = change(toTroubledShard(shard, item));
        return { result: changed, ...(changed.next && { values: toValues(changed.next) }) };
      });
      if (!next) return { result };
      if (isEmpty(next)) {
        await leave(shard);
        return { result };
      }
      await list(table, shardsOf(blockOf(shard)), shard);
      return { result, status: await list(table, blocks, blockOf(shard)) };
    },
  };
}

async function list(table: DynamoTable, { key, set, stamp }: List, member: number): Promise<StateItem> {
  const item = await updateState(table, {
    key,
    update: 'SET #stamp = :stamp ADD #set :member',
    names: { '#set': set, '#stamp': stamp },
    values: { ':stamp': { S: randomUUID() }, ':member': { NS: [String(member)] } },
  });
  return item ?? {};
}

/** Takes a member off a list, and deletes its item, if that is empty. Returns whether it did. */
async function tidy(
  table: DynamoTable,
  { key, set, stamp }: List,
  member: number,
  itemKey: string,
  isEmpty: (item: StateItem) => boolean,
): Promise<boolean> {
  for (let tries = 0; tries < TIDY_TRIES; tries += 1) {
    const before = await readState(table, key);
    const item = await readState(table, itemKey);
    if (item && !isEmpty(item)) return false;
    const isListed = membersOf(before, set).includes(member);
    const unlisted =
      isListed &&
      (await updateState(table, {
        key,
        update: 'DELETE #set :member',
        condition: '#stamp = :stamp',
        names: { '#set': set, '#stamp': stamp },
        values: { ':member': { NS: [String(member)] }, ':stamp': before?.[stamp] ?? { S: '' } },
      }));
    if (isListed && !unlisted) continue;
    if (item) await deleteState(table, itemKey, { name: 'version', value: item['version'] ?? { S: '' } });
    return true;
  }
  return false;
}

export function fits(cells: readonly FailingCell[]): boolean {
  return pack(cells).length <= MAX_CELLS_BYTES;
}

function membersOf(item: StateItem | undefined, set: string): readonly number[] {
  return (item?.[set]?.NS ?? []).map(Number);
}

function isEmpty({ cells, mark }: Omit<TroubledShard, 'shard'>): boolean {
  return cells.length === 0 && mark === undefined;
}

function toTroubledShard(shard: number, item: StateItem | undefined): TroubledShard {
  const [id, at] = [item?.['mark_id']?.N, item?.['mark_at']?.S];
  return {
    shard,
    cells: unpack<readonly FailingCell[]>(item?.['cells'], []),
    ...(id !== undefined && at !== undefined && { mark: { added_id: Number(id), at } }),
  };
}

function toValues({ cells, mark }: Omit<TroubledShard, 'shard'>) {
  const ordered = cells.toSorted((a, b) => a.message.added_id - b.message.added_id);
  return {
    cells: ordered.length > 0 ? { B: pack(ordered) } : undefined,
    mark_id: mark && { N: String(mark.added_id) },
    mark_at: mark && { S: mark.at },
  };
}

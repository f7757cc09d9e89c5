import { ConditionalCheckFailedException, DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { readState, updateState, type StateItem } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import { changeItem, pack, unpack } from '../../dynamo/change-item.ts';
import { readItems, statusKey, troubledKey, type TriggerName } from './trigger-items.ts';
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

/**
 * The items of the shards that are not in order, and their list in the status item. A shard is listed after its item is
 * written, and each listing raises `changes`; it leaves the list only if its item is empty and no shard was listed since. A
 * worker that died before listing one has not acknowledged its message, so the next consumer lists it.
 */
export function troubledShards(table: DynamoTable, name: TriggerName) {
  async function list(shard: number): Promise<StateItem> {
    const status = await updateState(table, {
      key: statusKey(name),
      update: 'ADD #troubled :shard, #changes :one',
      values: { ':shard': { NS: [String(shard)] }, ':one': { N: '1' } },
    });
    return status ?? {};
  }

  async function tidy(shard: number): Promise<void> {
    for (let tries = 0; tries < TIDY_TRIES; tries += 1) {
      const status = await readState(table, statusKey(name));
      const item = await readState(table, troubledKey(name, shard));
      if (item && !isEmpty(toTroubledShard(shard, item))) return;
      const unlisted = await updateState(table, {
        key: statusKey(name),
        update: 'DELETE #troubled :shard',
        condition: '#changes = :changes',
        values: { ':shard': { NS: [String(shard)] }, ':changes': status?.['changes'] ?? { N: '0' } },
      });
      if (!unlisted) continue;
      if (item) await deleteUnchanged(table, troubledKey(name, shard), item);
      return;
    }
  }

  return {
    async read(shards: readonly number[]): Promise<readonly TroubledShard[]> {
      const items = await readItems(
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
      if (!isEmpty(next)) return { result, status: await list(shard) };
      await tidy(shard);
      return { result };
    },
  };
}

export function fits(cells: readonly FailingCell[]): boolean {
  return pack(cells).length <= MAX_CELLS_BYTES;
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

async function deleteUnchanged({ client, table }: DynamoTable, key: string, item: StateItem): Promise<void> {
  try {
    await client.send(
      new DeleteItemCommand({
        TableName: table,
        Key: { pk: { S: key } },
        ConditionExpression: '#version = :seen',
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: { ':seen': item['version'] ?? { S: '' } },
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}

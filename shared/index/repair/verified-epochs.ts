import { readState, setState, type StateItem } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';

/** Epochs of shards up to which every index was compared: items `verified#trips#0`, of 4,096 shards each. */
const keyOf = (datastore: string, block: number): string => `verified#${datastore}#${block}`;

/** Returns what tells the verified epoch of any of these shards; 1 unless something else is written. */
export async function verifiedEpochs(
  table: DynamoTable,
  datastore: string,
  shards: readonly number[],
): Promise<(shard: number) => number> {
  const blocks = [...new Set(shards.map(blockOf))];
  const items = await Promise.all(blocks.map((block) => readState(table, keyOf(datastore, block))));
  const item: StateItem = Object.assign({}, ...items);
  return (shard) => Number(item[`epoch${shard}`]?.N ?? 1);
}

export async function noteVerified(table: DynamoTable, datastore: string, shard: number, epoch: number): Promise<void> {
  await setState(table, keyOf(datastore, blockOf(shard)), { [`epoch${shard}`]: { N: String(epoch) } });
}

/** Takes over the epoch of a switch, which compared all tables, unless a cut before it is not verified yet. */
export async function noteSwitched(
  table: DynamoTable,
  datastore: string,
  shard: number,
  { before, epoch }: { readonly before: number; readonly epoch: number },
): Promise<void> {
  const name = `epoch${shard}`;
  await setState(
    table,
    keyOf(datastore, blockOf(shard)),
    { [name]: { N: String(epoch) } },
    {
      condition: `#${name} = :before${before === 1 ? ` OR attribute_not_exists(#${name})` : ''}`,
      values: { ':before': { N: String(before) } },
    },
  );
}

/** Shards of one item of the state table: at 60 bytes each it stays far below 400 KB. */
const SHARDS_OF_A_BLOCK = 4096;

function blockOf(shard: number): number {
  return Math.floor(shard / SHARDS_OF_A_BLOCK);
}

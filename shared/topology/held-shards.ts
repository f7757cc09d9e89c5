import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { allItems, type DynamoTable } from '../dynamo/table.ts';

/** Shards of one datastore that a group has. */
export interface HeldShards {
  readonly group: string;
  readonly datastore: string;
  /** Ascending; at least one. */
  readonly shards: readonly number[];
  /** They are on their way: another group owns them still, and this one has what was copied of them so far. */
  readonly areComing: boolean;
}

/** What each group has of the shards of all datastores, retired ones included: as it is now, past every cache. */
export async function readHeldShards(table: DynamoTable): Promise<readonly HeldShards[]> {
  const items = await allItems(table);
  return items.filter(({ pk }) => pk?.S?.startsWith(DATASTORE)).flatMap(heldOf);
}

const DATASTORE = 'datastore#';

function heldOf({ pk, names, owners, moving }: Record<string, AttributeValue>): readonly HeldShards[] {
  const datastore = (pk?.S ?? '').slice(DATASTORE.length);
  const owned = (owners?.L ?? []).map(({ N }, shard) => ({ shard, group: names?.L?.[Number(N)]?.S ?? '' }));
  // Shard by shard, where it is being moved to: `{to: group-4, …}`.
  const coming = Object.entries(moving?.M ?? {})
    .map(([shard, move]) => ({ shard: Number(shard), group: move.M?.['to']?.S ?? '' }))
    .sort((one, other) => one.shard - other.shard);
  const byGroup = (some: typeof owned, areComing: boolean): readonly HeldShards[] =>
    [...Map.groupBy(some, ({ group }) => group)].map(([group, its]) => ({
      group,
      datastore,
      shards: its.map(({ shard }) => shard),
      areComing,
    }));
  return [...byGroup(owned, false), ...byGroup(coming, true)];
}

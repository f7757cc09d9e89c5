import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoTable } from '../dynamo/table.ts';
import { indexKey, versionsOf, type IndexName, type IndexVersion } from './index-catalogue.ts';
import { progressKey, toProgress, type IndexProgress } from './index-progress.ts';
import { toMistyped, type MistypedCounted } from './mistyped-fields.ts';

/** What the topology table says of an index at this moment. */
export interface IndexNow {
  /** In the order in which they came; none where there is no such index. */
  readonly versions: readonly IndexVersion[];
  /** Undefined while nobody has written it. */
  readonly progress: IndexProgress | undefined;
  /** Of all versions listed. */
  readonly mistyped: readonly MistypedCounted[];
}

/** Reads one index past every cache: two items. Throws what DynamoDB throws. */
export async function readIndexNow({ client, table }: DynamoTable, index: IndexName): Promise<IndexNow> {
  const [catalogue, progress] = await Promise.all(
    [indexKey(index), progressKey(index)].map((pk) =>
      client.send(new GetItemCommand({ TableName: table, Key: { pk }, ConsistentRead: true })),
    ),
  );
  return {
    versions: versionsOf(catalogue?.Item),
    progress: toProgress(progress?.Item),
    mistyped: toMistyped(progress?.Item ?? {}),
  };
}

import { decodeBody, encodeBody } from '../../body/codec.ts';
import type { Json } from '../../cell.ts';
import { readState, updateState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { VerifyLocation } from '../verify.ts';

export interface IndexProgress {
  readonly isDone: boolean;
  /** @default all shards */
  readonly shards?: readonly number[];
  readonly places: Readonly<Record<string, VerifyLocation>>;
  readonly again: readonly number[];
}

export interface VerifyProgress {
  /** The cuts it covers, as `17/2`: shard and epoch. Another cut begins it again. */
  readonly cuts: readonly string[];
  readonly indexes: Readonly<Record<string, IndexProgress>>;
}

export async function readVerifyProgress(table: DynamoTable, datastore: string): Promise<VerifyProgress | undefined> {
  const stored = (await readState(table, keyOf(datastore)))?.['progress']?.B;
  return stored && (decodeBody(stored) as unknown as VerifyProgress);
}

export async function writeVerifyProgress(
  table: DynamoTable,
  datastore: string,
  progress: VerifyProgress,
): Promise<void> {
  await updateState(table, {
    key: keyOf(datastore),
    update: 'SET #progress = :progress',
    // Encoded as bodies are: JSON's numbers do not hold every integer.
    values: { ':progress': { B: encodeBody(progress as unknown as Json) } },
  });
}

function keyOf(datastore: string): string {
  return `verifying#${datastore}`;
}

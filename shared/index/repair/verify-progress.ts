import { decodeBody, encodeBody } from '../../body/codec.ts';
import type { Json } from '../../cell.ts';
import { readState, updateState } from '../../dynamo/state-table.ts';
import type { DynamoTable } from '../../dynamo/table.ts';
import type { VerifyLocation } from '../verify.ts';

/** How far one version of an index was compared. */
export interface IndexProgress {
  readonly isDone: boolean;
  /** The shards that are gone through. @default all */
  readonly shards?: readonly number[];
  /** How far, by group. */
  readonly places: Readonly<Record<string, VerifyLocation>>;
  /** Shards that have to be gone through again. */
  readonly again: readonly number[];
}

/** How far the indexes of a datastore were compared whole. */
export interface VerifyProgress {
  /** The cuts that came before it, as `17/2`: shard and epoch. For one that is not among them it is done anew. */
  readonly cuts: readonly string[];
  /** By name and hash of the version. */
  readonly indexes: Readonly<Record<string, IndexProgress>>;
}

/** The item `verifying#trips` of the state table: the run that comes next goes on where the one before it stood. */
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
    // As bodies are encoded: a place may be at an integer that JSON's numbers do not hold.
    values: { ':progress': { B: encodeBody(progress as unknown as Json) } },
  });
}

function keyOf(datastore: string): string {
  return `verifying#${datastore}`;
}

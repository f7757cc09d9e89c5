import type { DynamoTable } from '../../shared/dynamo/table.ts';
import { rewriteCommits } from './rewritten-commits.ts';

/** Commits of offsets pass whoever holds the partition by now, and whatever rewind came between. */
export function withoutCommitFence(table: DynamoTable): DynamoTable {
  return rewriteCommits(table, () => undefined);
}

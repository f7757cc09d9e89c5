import type { DynamoTable } from '../../shared/dynamo/table.ts';
import { rewriteCommits } from './rewritten-commits.ts';

/** Commits of offsets pass whatever rewind came between; not those of somebody who lost the partition. */
export function withoutGenerationFence(table: DynamoTable): DynamoTable {
  return rewriteCommits(table, () => '#token = :token');
}

import { shownItems } from '../answer.ts';
import type { MoveManagement } from '../../../shared/moves/move-management.ts';
import type { HttpOperation } from './operation.ts';

/** GET /shards/sizes: what each shard takes, and every group there is. */
export const listShardSizes: HttpOperation<MoveManagement> = async (request, management) => {
  request.query();
  const operations = await management.moves(request.path('datastore'));
  const { groups, shards } = await operations.shardSizes();
  return { status: 200, body: { groups, shards: shownItems(shards) } };
};

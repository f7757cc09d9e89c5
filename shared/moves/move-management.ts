import type { MoveOperations } from '../contract/move-operations.ts';
import type { SizeOperations } from '../contract/shard-plan.ts';

/** The moves of every datastore's shards, for those who run them. */
export interface MoveManagement {
  /** Throws `unknown_datastore`. */
  moves(datastore: string): Promise<MoveOperations & SizeOperations>;
}

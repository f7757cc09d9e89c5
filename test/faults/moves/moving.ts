import type { MoveStatus } from '../../../shared/api/moves.ts';
import { moveManagement } from '../../../shared/moves/move-management.ts';
import type { OpenStore } from '../../support/store-access.ts';
import { pollUntil } from '../../support/poll-until.ts';
import type { Stage } from '../stage.ts';

export const MOVER = new URL('mover-process.ts', import.meta.url);
const PATIENCE = { patienceMs: 600_000, pollMs: 20 };

/** Opens the moves of a datastore as its operator does. */
export async function openMoves({ world: { signal } }: Stage, store: OpenStore) {
  const { context, topologyTable, stateTable, name } = store;
  const operations = await moveManagement({ topology: context.topology, topologyTable, stateTable }).moves(name);
  return {
    operations,
    /** Waits until each of these shards' moves meets the condition. Returns them as of then. */
    async until(shards: readonly number[], isSo: (status: MoveStatus) => boolean) {
      const poll = () => Promise.all(shards.map((shard) => operations.getMove({ shard })));
      const statuses = await pollUntil(poll, (all) => all.every(isSo), { ...PATIENCE, signal });
      if (statuses.every(isSo)) return statuses;
      throw new Error(`moves did not come on: ${JSON.stringify(statuses.filter((one) => !isSo(one)))}`);
    },
  };
}

export const isFollowing =
  (switches: number) =>
  ({ step, switches: done }: MoveStatus): boolean =>
    step === 'following' && done === switches;

import type { MoveStatus } from '../../../shared/api/moves.ts';
import { moveManagement } from '../../../shared/moves/move-management.ts';
import { startProcess, type KillableProcess } from '../../support/processes/killable-process.ts';
import type { OpenStore } from '../../support/store-access.ts';
import { lookUntil } from '../../support/look-until.ts';
import type { Stage } from '../stage.ts';
import type { MoverInput, MoverProgress } from './mover-process.ts';

export const MOVER = new URL('mover-process.ts', import.meta.url);
const PATIENCE = { patienceMs: 600_000, pollMs: 20 };

export type Moves = Awaited<ReturnType<typeof openMoves>>;

/** The moves of a datastore as its operator has them. */
export async function openMoves({ world: { signal } }: Stage, store: OpenStore) {
  const { context, topologyTable, stateTable, name } = store;
  const operations = await moveManagement({ topology: context.topology, topologyTable, stateTable }).moves(name);
  return {
    operations,
    /** Waits until each of these shards' moves is so. Returns them as they are then. */
    async until(shards: readonly number[], isSo: (status: MoveStatus) => boolean) {
      const look = () => Promise.all(shards.map((shard) => operations.getMove({ shard })));
      const statuses = await lookUntil(look, (all) => all.every(isSo), { ...PATIENCE, signal });
      if (statuses.every(isSo)) return statuses;
      throw new Error(`moves did not come on: ${JSON.stringify(statuses.filter((one) => !isSo(one)))}`);
    },
  };
}

/** Starts a process that moves shards. Returns once it works; its caller ends it. */
export async function startMover(
  { access, cluster }: Stage,
  varied: Partial<MoverInput> = {},
): Promise<KillableProcess<MoverProgress>> {
  const mover = startProcess<MoverInput, MoverProgress>(MOVER, cluster.folder, { access, ...varied });
  await mover.ready;
  return mover;
}

export const isFollowing =
  (switches: number) =>
  ({ step, switches: done }: MoveStatus): boolean =>
    step === 'following' && done === switches;

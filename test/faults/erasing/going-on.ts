import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErasureOperations } from '../../../shared/api/erasures.ts';
import type { MoveOperations } from '../../../shared/api/moves.ts';
import { leases } from '../../../shared/dynamo/lease.ts';
import { erasureManagement } from '../../../shared/erasures/erasure-management.ts';
import { runErasures } from '../../../shared/erasures/run-erasures.ts';
import type { OpenStore } from '../../support/store-access.ts';

export const REASON = 'a fault run';
export const LEASE_MS = 3000;
const RUN_MS = 60_000;

export function erasing({ context, topologyTable, stateTable, name }: OpenStore): Promise<ErasureOperations> {
  return erasureManagement({ context, topologyTable, stateTable, backupDays: 0 }).erasures(name, REASON);
}

/** Continues open erasures as the scheduled function does, with less patience. */
export async function goOnErasing(
  { context, topologyTable, stateTable }: OpenStore,
  signal: AbortSignal,
  settings: Partial<Parameters<typeof runErasures>[0]> = {},
): Promise<void> {
  while (!signal.aborted)
    await runErasures({
      context,
      topologyTable,
      stateTable,
      backupDays: 0,
      leases: leases(stateTable, randomUUID(), LEASE_MS),
      deadline: Date.now() + RUN_MS,
      pollMs: 1000,
      signal,
      ...settings,
    });
}

export interface Gate {
  isClosed: boolean;
  isIdle: boolean;
}

interface MovingAround {
  readonly operations: Pick<MoveOperations, 'createMove' | 'getMove'>;
  readonly shards: number;
  readonly groups: readonly string[];
  readonly homeOf: (shard: number) => Promise<string | undefined>;
  /** Every other move keeps its copy. */
  readonly keeps?: boolean;
  readonly gate?: Gate;
  readonly signal: AbortSignal;
}

export async function moveAround(moving: MovingAround): Promise<number> {
  const { operations, shards, groups, homeOf, keeps = false, gate, signal } = moving;
  let moved = 0;
  while (!signal.aborted) {
    if (gate) gate.isIdle = gate.isClosed;
    if (gate?.isClosed) {
      await sleep(50);
      continue;
    }
    const shard = (moved * 7) % shards;
    const home = await homeOf(shard);
    const others = groups.filter((group) => group !== home);
    const stays = keeps && moved % 2 === 1;
    const to = others[moved % others.length] ?? '';
    const options = { switch: true, ...(!stays && { complete_after_seconds: 1 }) };
    await operations.createMove({ shard, to, ...options }).catch(() => undefined);
    for (;;) {
      const move = await operations.getMove({ shard }).catch(() => undefined);
      if (move?.step === 'completed' || move?.step === 'cancelled' || (stays && move?.switches === 1)) break;
      // A begun move is completed if no copy may stay.
      if (signal.aborted && (keeps || !move)) return moved;
      await sleep(100);
    }
    moved += 1;
  }
  return moved;
}

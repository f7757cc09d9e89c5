import type { MoveOperations, MoveStatus } from '../../../shared/api/moves.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import { MOVE } from '../../functions/support/fake-moves.ts';

/** Moves of shards that copy nothing: each list of them advances each by a step. */
export interface SteppingMoves extends Pick<MoveOperations, 'listMoves' | 'getMove' | 'createMove' | 'cancelMove'> {
  /** The group of each shard. */
  readonly homes: Map<number, string>;
  /** The requested moves, in order. */
  readonly asked: string[];
  /** The last move of a shard. */
  readonly all: Map<number, MoveStatus>;
}

export function moveStatus(changes: Pick<MoveStatus, 'shard' | 'from' | 'to'> & Partial<MoveStatus>): MoveStatus {
  return { ...MOVE, step: 'waiting', ...changes };
}

/** As the mover does it: no group copies two shards at a time, a switch exchanges both sides. */
export function steppingMoves(held: ReadonlyMap<number, string>): SteppingMoves {
  const [homes, asked, all] = [new Map(held), [] as string[], new Map<number, MoveStatus>()];
  const isOver = ({ step }: MoveStatus): boolean => step === 'completed' || step === 'cancelled';
  const change = (shard: number, changed: Partial<MoveStatus>): MoveStatus => {
    const before = all.get(shard);
    if (!before) throw new SchemalessError('unknown_move', `no move of ${shard}`);
    const status = { ...before, ...changed };
    all.set(shard, status);
    return status;
  };
  const copies = (group: string): number =>
    [...all.values()].filter(({ step, from, to }) => step === 'copying' && [from, to].includes(group)).length;
  const step = (status: MoveStatus): void => {
    const { shard, from, to } = status;
    if (status.step === 'copying' && status.wanted === 'switch') {
      homes.set(shard, to);
      const switched = { from: to, to: from, switches: 1, wanted: null, switched_at: new Date().toISOString() };
      change(shard, { ...switched, step: 'following' });
    } else if (status.step === 'following' && status.switches > 0) change(shard, { step: 'completed' });
    else if (status.step === 'waiting' && copies(from) + copies(to) === 0) change(shard, { step: 'copying' });
  };
  return {
    homes,
    asked,
    all,
    async listMoves() {
      for (const status of all.values()) if (!isOver(status)) step(status);
      return { moves: [...all.values()].filter((status) => !isOver(status)) };
    },
    getMove: async ({ shard }) => change(shard, {}),
    async createMove({ shard, to, switch: switches = false, complete_after_seconds = null }) {
      asked.push(`${shard} to ${to}`);
      const from = homes.get(shard) ?? '';
      if (from === to) throw new SchemalessError('move_refused', `shard ${shard} is on ${to} already`);
      const wanted = switches ? 'switch' : null;
      const status = moveStatus({ shard, from, to, wanted, complete_after_seconds });
      all.set(shard, status);
      return status;
    },
    cancelMove: async ({ shard }) => change(shard, { step: 'cancelled' }),
  };
}

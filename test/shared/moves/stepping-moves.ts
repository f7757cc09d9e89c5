import type { MoveOperations, MoveStatus } from '../../../shared/api/moves.ts';
import { SchemalessError } from '../../../shared/errors.ts';

/** Moves of shards that copy nothing: a look at them is a step on. */
export interface SteppingMoves extends MoveOperations {
  /** By shard: who holds it. */
  readonly homes: Map<number, string>;
  /** What was asked of them, in order. */
  readonly asked: string[];
  /** The last move of a shard. */
  readonly all: Map<number, MoveStatus>;
}

const BEGUN: Omit<MoveStatus, 'shard' | 'from' | 'to'> = {
  step: 'waiting',
  wanted: null,
  switches: 0,
  created_at: '2026-01-31T08:00:00.000000Z',
  switched_at: null,
  head: 10,
  copied: 0,
  compared: 0,
  bytes: 0,
  bytes_per_second: 0,
  eta_seconds: null,
  digest: null,
  restarts: 0,
  closed_ms: [],
  complete_after_seconds: null,
  last_error: null,
};

export function moveStatus(changes: Pick<MoveStatus, 'shard' | 'from' | 'to'> & Partial<MoveStatus>): MoveStatus {
  return { ...BEGUN, ...changes };
}

/** As the mover does it: no group copies two shards at a time, a switch exchanges both sides. */
export function steppingMoves(
  homes: ReadonlyMap<number, string>,
  changes: Partial<MoveOperations> = {},
): SteppingMoves {
  const all = new Map<number, MoveStatus>();
  const made: Pick<SteppingMoves, 'homes' | 'asked' | 'all'> = {
    homes: new Map(homes),
    asked: [],
    all,
  };
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
      made.homes.set(shard, to);
      const switched = { from: to, to: from, switches: 1, wanted: null, switched_at: new Date().toISOString() };
      change(shard, { ...switched, step: 'following' });
    } else if (status.step === 'following' && status.switches > 0) change(shard, { step: 'completed' });
    else if (status.step === 'waiting' && copies(from) + copies(to) === 0) change(shard, { step: 'copying' });
  };
  return {
    ...made,
    async listMoves() {
      for (const status of all.values()) if (!isOver(status)) step(status);
      return { moves: [...all.values()].filter((status) => !isOver(status)) };
    },
    getMove: async ({ shard }) => change(shard, {}),
    async createMove({ shard, to, switch: switches = false, complete_after_seconds = null }) {
      made.asked.push(`${shard} to ${to}`);
      const from = made.homes.get(shard) ?? '';
      if (from === to) throw new SchemalessError('move_refused', `shard ${shard} is on ${to} already`);
      const wanted = switches ? 'switch' : null;
      all.set(shard, moveStatus({ shard, from, to, wanted, complete_after_seconds }));
      return change(shard, {});
    },
    switchMove: async ({ shard }) => change(shard, { wanted: 'switch' }),
    async reverseMove({ shard }) {
      const { from, to, switches } = change(shard, {});
      made.homes.set(shard, to);
      return change(shard, { from: to, to: from, switches: switches + 1 });
    },
    completeMove: async ({ shard }) => change(shard, { step: 'completed' }),
    cancelMove: async ({ shard }) => change(shard, { step: 'cancelled' }),
    verifyMove: async ({ shard }) => change(shard, {}),
    ...changes,
  };
}

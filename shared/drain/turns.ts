export interface ShardTurn {
  readonly datastore: string;
  readonly shard: number;
  readonly name: string;
  after: number;
  dueAt: number;
  failures: number;
  /** It is asked alone: it may have failed others. */
  isAlone: boolean;
}

export type Turns = ReturnType<typeof openTurns>;

/** Pause between polls of the same rows, which wait for a reader. */
export const PAUSE_MS = 1000;
/** Longest pauses after failures in a row. */
const LONGEST_PAUSE_MS = { shard: 30_000, primary: 10_000 };
/** Shards of a turn: its cost is its statements, and the commit of its deletions. */
const SHARDS_A_TURN = 48;

/** Lets a lane's shards take turns, each with its own place, so that no shard's many rows block another. */
export function openTurns(afterOf: (name: string) => number | undefined, now: () => number = () => performance.now()) {
  const shards = new Map<string, ShardTurn>();
  let unavailableUntil = 0;
  let timesUnavailable = 0;
  let wasAlone = false;

  const pauseAfter = (failures: number, longest: number): number => Math.min(longest, PAUSE_MS * 2 ** (failures - 1));

  function toEnd(turn: ShardTurn): void {
    if (shards.delete(turn.name)) shards.set(turn.name, turn);
  }

  return {
    shards: shards as ReadonlyMap<string, ShardTurn>,
    have(some: readonly Pick<ShardTurn, 'datastore' | 'shard'>[]): void {
      const names = new Set(some.map(nameOf));
      for (const name of shards.keys()) if (!names.has(name)) shards.delete(name);
      for (const { datastore, shard } of some) {
        const name = nameOf({ datastore, shard });
        if (!shards.has(name))
          shards.set(name, {
            datastore,
            shard,
            name,
            after: afterOf(name) ?? 0,
            dueAt: now(),
            failures: 0,
            isAlone: false,
          });
      }
    },
    next(): readonly ShardTurn[] {
      if (now() < unavailableUntil) return [];
      const due = [...shards.values()].filter(({ dueAt }) => dueAt <= now());
      const others = due.filter(({ isAlone }) => !isAlone);
      const alone = due.find(({ isAlone }) => isAlone);
      // By turns with the others, which many slow shards would leave no time.
      wasAlone = alone !== undefined && (others.length === 0 || !wasAlone);
      return wasAlone && alone ? [alone] : others.slice(0, SHARDS_A_TURN);
    },
    /** Milliseconds until the next is due; 0 or less: now. */
    wait(): number {
      let due = now() + PAUSE_MS;
      for (const { dueAt } of shards.values()) due = Math.min(due, dueAt);
      return Math.max(due, unavailableUntil) - now();
    },
    /** Its rows were handled up to `after`; undefined: to the end, so it begins again after a pause. */
    pass(turn: ShardTurn, after: number | undefined): void {
      Object.assign(turn, { after: after ?? 0, failures: 0, isAlone: false });
      turn.dueAt = after === undefined ? now() + PAUSE_MS : now();
      toEnd(turn);
    },
    /** Retries after a growing pause, from `after` on. */
    fail(turn: ShardTurn, after = turn.after): void {
      turn.after = after;
      turn.failures += 1;
      turn.dueAt = now() + pauseAfter(turn.failures, LONGEST_PAUSE_MS.shard);
      toEnd(turn);
    },
    askAlone(turn: ShardTurn): void {
      turn.isAlone = true;
    },
    unavailable(): void {
      timesUnavailable += 1;
      unavailableUntil = now() + pauseAfter(timesUnavailable, LONGEST_PAUSE_MS.primary);
    },
    reached(): void {
      timesUnavailable = 0;
    },
  };
}

export function nameOf({ datastore, shard }: Pick<ShardTurn, 'datastore' | 'shard'>): string {
  return `${datastore}/${shard}`;
}

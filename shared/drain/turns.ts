/** One shard of a lane: where it stands, and when its turn is. */
export interface ShardTurn {
  readonly datastore: string;
  readonly shard: number;
  /** `trips/233`. */
  readonly name: string;
  /** Rows up to this id were looked at since its last beginning. */
  after: number;
  /** By `performance.now()`. */
  dueAt: number;
  /** Attempts in a row that failed. */
  failures: number;
  /** It is asked by itself: together with others, something failed that may be its fault. */
  isAlone: boolean;
}

/** Whose turn it is among the shards of a lane. */
export interface Turns {
  /** In the order of their turns. */
  readonly shards: ReadonlyMap<string, ShardTurn>;
  /** These shards have rows that wait, and no others. */
  have(shards: readonly Pick<ShardTurn, 'datastore' | 'shard'>[]): void;
  next(): readonly ShardTurn[];
  /** Milliseconds until the next is due; 0 or less: now. */
  wait(): number;
  /** Its rows were looked at, up to the id, or to the end: it begins anew after a pause. */
  pass(turn: ShardTurn, after: number | undefined): void;
  /** It could not be worked on: it is tried again after a pause that grows, from `after` on where that is given. */
  fail(turn: ShardTurn, after?: number): void;
  askAlone(turn: ShardTurn): void;
  /** Their primary cannot be asked: none of them is due before a pause that grows. */
  away(): void;
  /** Their primary answered. */
  reached(): void;
}

/** Between two looks at the same rows: they wait for a reader, and few looks at many rows cost less. */
export const PAUSE_MS = 1000;
/** Of attempts that fail, in a row. */
const LONGEST_PAUSE_MS = { shard: 30_000, primary: 10_000 };
/**
 * Shards asked about together. With a row or two each, as while all goes well, what a turn costs is its statements, and
 * the commit of what it deletes.
 */
const SHARDS_A_TURN = 48;

/**
 * The shards of a lane go round: each has its own place in its rows, so that thousands of one shard, or rows that wait
 * for a reader that is down, do not stand before those of another.
 *
 * @param afterOf where a former drain stood with a shard, by its name
 */
export function openTurns(
  afterOf: (name: string) => number | undefined,
  now: () => number = () => performance.now(),
): Turns {
  const shards = new Map<string, ShardTurn>();
  let awayUntil = 0;
  let timesAway = 0;
  let wasAlone = false;

  const pauseAfter = (failures: number, longest: number): number => Math.min(longest, PAUSE_MS * 2 ** (failures - 1));

  /** Behind all others. */
  function toEnd(turn: ShardTurn): void {
    if (shards.delete(turn.name)) shards.set(turn.name, turn);
  }

  return {
    shards,
    have(some) {
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
    next() {
      if (now() < awayUntil) return [];
      const due = [...shards.values()].filter(({ dueAt }) => dueAt <= now());
      const others = due.filter(({ isAlone }) => !isAlone);
      const alone = due.find(({ isAlone }) => isAlone);
      // By turns with the others: many that are slow by themselves would leave these no time.
      wasAlone = alone !== undefined && (others.length === 0 || !wasAlone);
      return wasAlone && alone ? [alone] : others.slice(0, SHARDS_A_TURN);
    },
    wait() {
      let due = now() + PAUSE_MS;
      for (const { dueAt } of shards.values()) due = Math.min(due, dueAt);
      return Math.max(due, awayUntil) - now();
    },
    pass(turn, after) {
      Object.assign(turn, { after: after ?? 0, failures: 0, isAlone: false });
      turn.dueAt = after === undefined ? now() + PAUSE_MS : now();
      toEnd(turn);
    },
    fail(turn, after = turn.after) {
      turn.after = after;
      turn.failures += 1;
      turn.dueAt = now() + pauseAfter(turn.failures, LONGEST_PAUSE_MS.shard);
      toEnd(turn);
    },
    askAlone(turn) {
      turn.isAlone = true;
    },
    away() {
      timesAway += 1;
      awayUntil = now() + pauseAfter(timesAway, LONGEST_PAUSE_MS.primary);
    },
    reached() {
      timesAway = 0;
    },
  };
}

export function nameOf({ datastore, shard }: Pick<ShardTurn, 'datastore' | 'shard'>): string {
  return `${datastore}/${shard}`;
}

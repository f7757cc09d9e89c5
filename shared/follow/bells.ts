import type { Role } from '../cell.ts';
import { askParts, partsOf } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { pauseFor } from '../pause-for.ts';
import { selectBells, toBells, type Bells } from '../sql/statements/ring-bells.ts';
import { adaptivePause, type PassEnd, type Pauses } from './pace.ts';

interface Listening {
  /** Since when, by the local clock, no ring can have been missed; undefined while none are heard: poll all shards. */
  since(): number | undefined;
  stop(): void;
}

/** Hears the bells of each group while a follower of this process listens. */
export interface BellTower {
  of(group: string): HeardGroup;
}

interface BellOptions {
  /** The node that is asked: the one that the logs are read from. */
  readonly read: (group: string) => Role;
  /** Between polls. @default 10 ms while bells ring, 160 when idle */
  readonly pauses?: Pauses;
  readonly now?: () => number;
}

/** A group that gets a cell every few seconds is polled as often as a busy one: it is idle after ten seconds. */
const PAUSES: Pauses = { leastMs: 10, mostMs: 160, shareOfQuiet: 1 / 64 };
/**
 * A missing number may still come: its transaction becomes visible after one with a higher number. A newest number that
 * stays lower for longer is of a promoted node; for less, of a reader that is behind the one that answered before.
 */
const LATE_MS = 2000;
/** Missing numbers that are asked for: each is a value of the statement. */
const MOST_LATE = 200;
/** Rings asked for again when a promoted node has a lower newest number. */
const TOLD_AGAIN = 100;
const NONE_YET = Number.MAX_SAFE_INTEGER;

export function bellTower(context: StoreContext, { read, ...options }: BellOptions): BellTower {
  const groups = new Map<string, HeardGroup>();
  const ask = async (group: string, ...[after, late]: Parameters<AskBells>): ReturnType<AskBells> => {
    const client = await context.groups.client(group);
    if (client.abilities.hasBells !== true) return undefined;
    const { rows, refused } = await askParts(client, group, read(group), partsOf(selectBells(after, late)));
    const refusal = refused.get(0);
    if (refusal && !refusal.isAnswered) throw refusal.error;
    return toBells(rows);
  };
  return {
    of(group) {
      let heard = groups.get(group);
      if (!heard) groups.set(group, (heard = new HeardGroup((...which) => ask(group, ...which), options)));
      return heard;
    },
  };
}

type AskBells = (after: number, late: readonly number[]) => Promise<Bells | undefined>;

interface Listener {
  readonly datastore: string;
  readonly heard: (shards: readonly number[]) => void;
}

/** The shards of one group with new cells, as their writers reported. */
class HeardGroup {
  readonly #ask: AskBells;
  readonly #pauses: Pauses;
  readonly #now: () => number;
  readonly #listeners = new Set<Listener>();
  #late = new Map<number, number>();
  #newest: number | undefined;
  #since: number | undefined;
  /** Since when each answer had a lower newest number. */
  #lowerSince: number | undefined;
  #running: AbortController | undefined;

  constructor(ask: AskBells, { pauses = PAUSES, now = () => performance.now() }: Omit<BellOptions, 'read'>) {
    this.#ask = ask;
    this.#pauses = pauses;
    this.#now = now;
  }

  /** Calls `heard` with the shards that rang, until it is stopped. */
  listen(datastore: string, heard: Listener['heard']): Listening {
    const listener: Listener = { datastore, heard };
    this.#listeners.add(listener);
    if (!this.#running) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    }
    return {
      since: () => this.#since,
      stop: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size > 0) return;
        this.#running?.abort();
        this.#running = undefined;
        this.#forget();
      },
    };
  }

  async #run(signal: AbortSignal): Promise<void> {
    const pauseAfter = adaptivePause(this.#pauses);
    while (!signal.aborted) {
      const end = await this.#look(signal).catch((): PassEnd => {
        if (!signal.aborted) this.#forget();
        return 'failed';
      });
      await pauseFor(pauseAfter(end), signal);
    }
  }

  async #look(signal: AbortSignal): Promise<PassEnd> {
    const begun = this.#now();
    const before = this.#newest;
    const bells = await this.#ask(before ?? NONE_YET, [...this.#late.keys()]);
    if (signal.aborted) return 'none';
    if (!bells) {
      this.#forget();
      return 'failed';
    }
    if (before === undefined) {
      // Slow polls find cells that were appended before.
      this.#newest = bells.newest;
      this.#since = begun;
      return 'none';
    }
    for (const { id } of bells.rings) this.#hear(id, begun);
    for (const [id, since] of this.#late) {
      if (begun - since > LATE_MS || this.#late.size > MOST_LATE) this.#late.delete(id);
    }
    if (this.#staysLower(bells.newest < before, begun)) this.#newest = Math.max(0, bells.newest - TOLD_AGAIN);
    this.#tell(bells.rings);
    return bells.areMore ? 'full' : bells.rings.length > 0 ? 'some' : 'none';
  }

  #staysLower(isLower: boolean, now: number): boolean {
    this.#lowerSince = isLower ? (this.#lowerSince ?? now) : undefined;
    if (this.#lowerSince === undefined || now - this.#lowerSince <= LATE_MS) return false;
    this.#lowerSince = undefined;
    return true;
  }

  #hear(id: number, now: number): void {
    if (this.#late.delete(id)) return;
    const newest = this.#newest ?? id;
    for (let late = Math.max(newest + 1, id - MOST_LATE); late < id; late += 1) this.#late.set(late, now);
    this.#newest = Math.max(newest, id);
  }

  #tell(rings: Bells['rings']): void {
    for (const [datastore, some] of Map.groupBy(rings, (ring) => ring.datastore)) {
      const shards = some.flatMap((ring) => ring.shards);
      for (const listener of this.#listeners) if (listener.datastore === datastore) listener.heard(shards);
    }
  }

  #forget(): void {
    this.#late.clear();
    this.#newest = undefined;
    this.#since = undefined;
    this.#lowerSince = undefined;
  }
}

export type RungShards = ReturnType<typeof rungShards>;

export function rungShards(bells: HeardGroup | undefined, datastore: string) {
  const rung = new Set<number>();
  let isNews = false;
  let wake: (() => void) | undefined;
  const listening = bells?.listen(datastore, (shards) => {
    for (const shard of shards) rung.add(shard);
    isNews = true;
    wake?.();
  });
  return {
    /** See `Listening`. */
    since: (): number | undefined => listening?.since(),
    has: (shard: number): boolean => rung.has(shard),
    all: (): Iterable<number> => rung,
    /** Forgets shards that are read now. What rang and is not read, since it is busy or of another worker, wakes no pass. */
    take(shards: readonly number[]): void {
      for (const shard of shards) rung.delete(shard);
      isNews = false;
    },
    /** Waits for a new ring, the end of the time, or the signal. */
    orAfter(milliseconds: number, signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          wake = undefined;
          resolve();
        };
        const timer = setTimeout(end, Math.max(0, milliseconds));
        signal.addEventListener('abort', end, { once: true });
        wake = end;
        if (isNews || signal.aborted) end();
      });
    },
    stop: (): void => listening?.stop(),
  };
}

import type { Role } from '../cell.ts';
import { askParts, partsOf } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { pauseFor } from '../pause-for.ts';
import { selectBells, toBells, type Bells } from '../sql/statements/ring-bells.ts';
import { adaptivePause, type PassEnd, type Pauses } from './pace.ts';

/** Which shards of a group have new cells, as their writers said. */
export interface BellsOfGroup {
  /** Calls with the shards that rang, until it is stopped. */
  listen(datastore: string, heard: (shards: readonly number[]) => void): Listening;
}

export interface Listening {
  /**
   * Since when, by the local clock, nothing can have been missed but by a transaction that became visible late;
   * undefined while nothing is heard: cells have to be looked for.
   */
  since(): number | undefined;
  stop(): void;
}

/** Hears the bells of all groups, each while somebody listens, for all who listen in this process. */
export interface BellTower {
  of(group: string): BellsOfGroup;
}

export interface BellOptions {
  /** Which node is asked: that from which the logs are read. */
  readonly read: Role;
  /** Between looks. @default 10 ms while bells ring, 160 at rest */
  readonly pauses?: Pauses;
  /** Milliseconds that only go forward. @default those of this process */
  readonly now?: () => number;
}

const PAUSES: Pauses = { leastMs: 10, mostMs: 160 };
/** Rings before the last one that are looked at again: what became visible after one with a higher number. */
const LATE_RINGS = 100;
/** The newest ring may have a lower number for a while, on a reader that lags; for longer, on a server without them. */
const FEWER_MS = 2000;
/** Before all that will ever ring. */
const NONE_YET = Number.MAX_SAFE_INTEGER;

export function bellTower(context: StoreContext, { read, ...options }: BellOptions): BellTower {
  const groups = new Map<string, HeardGroup>();
  const ask = async (group: string, after: number): Promise<Bells | undefined> => {
    const client = await context.groups.client(group);
    if (client.abilities.hasBells !== true) return undefined;
    const { rows, refused } = await askParts(client, group, read, partsOf(selectBells(after)));
    const refusal = refused.get(0);
    if (refusal && !refusal.isAnswered) throw refusal.error;
    return toBells(rows);
  };
  return {
    of(group) {
      let heard = groups.get(group);
      if (!heard) groups.set(group, (heard = new HeardGroup((after) => ask(group, after), options)));
      return heard;
    },
  };
}

interface Listener {
  readonly datastore: string;
  readonly heard: (shards: readonly number[]) => void;
}

class HeardGroup implements BellsOfGroup {
  readonly #ask: (after: number) => Promise<Bells | undefined>;
  readonly #pauses: Pauses;
  readonly #now: () => number;
  readonly #listeners = new Set<Listener>();
  /** Rings that are not to be told again, of the last ones. */
  #told = new Set<number>();
  #newest: number | undefined;
  #since: number | undefined;
  #fewerSince: number | undefined;
  #running: AbortController | undefined;

  constructor(
    ask: (after: number) => Promise<Bells | undefined>,
    { pauses = PAUSES, now = () => performance.now() }: Omit<BellOptions, 'read'>,
  ) {
    this.#ask = ask;
    this.#pauses = pauses;
    this.#now = now;
  }

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
    const bells = await this.#ask(before === undefined ? NONE_YET : Math.max(0, before - LATE_RINGS));
    if (signal.aborted) return 'none';
    if (!bells) {
      this.#forget();
      return 'failed';
    }
    if (before === undefined || this.#areFewer(bells.newest, before)) {
      // Cells that were appended before are found by looking.
      this.#forget();
      this.#newest = bells.newest;
      this.#since = begun;
      return 'none';
    }
    const fresh = bells.rings.filter(({ id }) => !this.#told.has(id));
    this.#newest = Math.max(before, bells.rings.at(-1)?.id ?? 0);
    const oldest = this.#newest - LATE_RINGS;
    for (const id of this.#told) if (id <= oldest) this.#told.delete(id);
    for (const { id } of fresh) if (id > oldest) this.#told.add(id);
    this.#tell(fresh);
    return bells.areMore ? 'full' : fresh.length > 0 ? 'some' : 'none';
  }

  /** A writer that was promoted without the last rings begins with lower numbers. */
  #areFewer(newest: number, before: number): boolean {
    if (newest >= before) {
      this.#fewerSince = undefined;
      return false;
    }
    this.#fewerSince ??= this.#now();
    return this.#now() - this.#fewerSince >= FEWER_MS;
  }

  #tell(rings: Bells['rings']): void {
    for (const [datastore, some] of Map.groupBy(rings, (ring) => ring.datastore)) {
      const shards = some.flatMap((ring) => ring.shards);
      for (const listener of this.#listeners) if (listener.datastore === datastore) listener.heard(shards);
    }
  }

  #forget(): void {
    this.#told = new Set();
    this.#newest = undefined;
    this.#since = undefined;
    this.#fewerSince = undefined;
  }
}

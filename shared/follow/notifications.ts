import type { Role } from '../cell.ts';
import { askParts, partsOf } from '../access/ask-parts.ts';
import type { StoreContext } from '../access/context.ts';
import { pauseFor } from '../pause-for.ts';
import { selectNotifications, toNotifications, type Notifications } from '../sql/statements/notifications.ts';
import { adaptivePause, type PassEnd, type Pauses } from './pace.ts';

interface Listening {
  /** Since when, by the local clock, no notification was missed; undefined while none are read: poll all shards. */
  since(): number | undefined;
  stop(): void;
}

/** Receives the notifications of each group while a follower of this process listens. */
export interface Notifiers {
  of(group: string): HeardGroup;
}

interface NotifierOptions {
  /** The role to poll: the one that the logs are read from. */
  readonly read: (group: string) => Role;
  /** Between polls. @default 10 ms while notifications arrive, 1280 when idle for half a minute */
  readonly pauses?: Pauses;
  readonly now?: () => number;
}

/** A cell waits at most a twenty-fourth of the time since the last one, so that an idle group costs few statements. */
const PAUSES: Pauses = { leastMs: 10, mostMs: 1280, shareOfQuiet: 1 / 24 };
/**
 * A missing number may still come: its transaction becomes visible after one with a higher number. A newest number that
 * stays lower for longer is of a promoted node; for less, of a reader that is behind the one that answered before.
 */
const LATE_MS = 2000;
/** Missing numbers that are asked for: each is a value of the statement. */
const MOST_LATE = 200;
/** Notifications asked for again when a promoted node has a lower newest number. */
const TOLD_AGAIN = 100;
const NONE_YET = Number.MAX_SAFE_INTEGER;

export function openNotifiers(context: StoreContext, { read, ...options }: NotifierOptions): Notifiers {
  const groups = new Map<string, HeardGroup>();
  const ask = async (
    group: string,
    ...[after, late]: Parameters<SelectNotifications>
  ): ReturnType<SelectNotifications> => {
    const client = await context.groups.client(group);
    if (client.abilities.hasNotifications !== true) return undefined;
    const { rows, refused } = await askParts(client, group, read(group), partsOf(selectNotifications(after, late)));
    const refusal = refused.get(0);
    if (refusal && !refusal.isAnswered) throw refusal.error;
    return toNotifications(rows);
  };
  return {
    of(group) {
      let heard = groups.get(group);
      if (!heard) groups.set(group, (heard = new HeardGroup((...which) => ask(group, ...which), options)));
      return heard;
    },
  };
}

type SelectNotifications = (after: number, late: readonly number[]) => Promise<Notifications | undefined>;

interface Listener {
  readonly datastore: string;
  readonly notified: (shards: readonly number[]) => void;
}

/** The shards of one group with new cells, as their writers reported. */
class HeardGroup {
  readonly #ask: SelectNotifications;
  readonly #pauses: Pauses;
  readonly #now: () => number;
  readonly #listeners = new Set<Listener>();
  #late = new Map<number, number>();
  #newest: number | undefined;
  #since: number | undefined;
  /** Since when each answer had a lower newest number. */
  #lowerSince: number | undefined;
  #running: AbortController | undefined;

  constructor(
    ask: SelectNotifications,
    { pauses = PAUSES, now = () => performance.now() }: Omit<NotifierOptions, 'read'>,
  ) {
    this.#ask = ask;
    this.#pauses = pauses;
    this.#now = now;
  }

  /** Calls `notified` with the shards that have new cells, until it is stopped. */
  listen(datastore: string, notified: Listener['notified']): Listening {
    const listener: Listener = { datastore, notified };
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
      const end = await this.#poll(signal).catch((): PassEnd => {
        if (!signal.aborted) this.#forget();
        return 'failed';
      });
      await pauseFor(pauseAfter(end), signal);
    }
  }

  async #poll(signal: AbortSignal): Promise<PassEnd> {
    const begun = this.#now();
    const before = this.#newest;
    const notifications = await this.#ask(before ?? NONE_YET, [...this.#late.keys()]);
    if (signal.aborted) return 'none';
    if (!notifications) {
      this.#forget();
      return 'failed';
    }
    if (before === undefined) {
      // Slow polls find cells that were appended before.
      this.#newest = notifications.newest;
      this.#since = begun;
      return 'none';
    }
    for (const { id } of notifications.entries) this.#hear(id, begun);
    for (const [id, since] of this.#late) {
      if (begun - since > LATE_MS || this.#late.size > MOST_LATE) this.#late.delete(id);
    }
    if (this.#staysLower(notifications.newest < before, begun))
      this.#newest = Math.max(0, notifications.newest - TOLD_AGAIN);
    this.#tell(notifications.entries);
    return notifications.areMore ? 'full' : notifications.entries.length > 0 ? 'some' : 'none';
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

  #tell(entries: Notifications['entries']): void {
    for (const [datastore, some] of Map.groupBy(entries, (entry) => entry.datastore)) {
      const shards = some.flatMap((entry) => entry.shards);
      for (const listener of this.#listeners) if (listener.datastore === datastore) listener.notified(shards);
    }
  }

  #forget(): void {
    this.#late.clear();
    this.#newest = undefined;
    this.#since = undefined;
    this.#lowerSince = undefined;
  }
}

export type NotifiedShards = ReturnType<typeof notifiedShards>;

export function notifiedShards(notifications: HeardGroup | undefined, datastore: string) {
  const notified = new Set<number>();
  let isNews = false;
  let wake: (() => void) | undefined;
  const listening = notifications?.listen(datastore, (shards) => {
    for (const shard of shards) notified.add(shard);
    isNews = true;
    wake?.();
  });
  return {
    /** See `Listening`. */
    since: (): number | undefined => listening?.since(),
    has: (shard: number): boolean => notified.has(shard),
    all: (): Iterable<number> => notified,
    /** Forgets shards that are read now. A notified shard that is busy, or of another worker, wakes no pass. */
    take(shards: readonly number[]): void {
      for (const shard of shards) notified.delete(shard);
      isNews = false;
    },
    /** Waits for a notification, the end of the time, or the signal. */
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

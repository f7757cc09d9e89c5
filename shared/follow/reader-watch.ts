import type { Role } from '../cell.ts';
import type { StoreContext } from '../access/context.ts';
import { partsOf } from '../access/ask-parts.ts';
import { selectParts } from '../sql/select-parts.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import type { SqlClient } from '../sql/client.ts';
import type { FollowEvent } from './follower.ts';
import { slicesOf } from '../slices-of.ts';

export type ReaderWatch = ReturnType<typeof readerWatch>;

interface ReaderWatchOptions {
  readonly report?: (event: FollowEvent) => void;
  /** Between polls: a reader may lack a cell for so long. @default 10,000 */
  readonly everyMs?: number;
  readonly now?: () => number;
}

/** A reader lags by milliseconds, under load by a second or two. */
const EVERY_MS = 10_000;
/** Shards compared in one statement; a larger group takes turns. */
const SHARDS_A_POLL = 256;

/** How far some logs went on the writer when last asked. */
interface Asked {
  readonly datastore: string;
  readonly heads: ReadonlyMap<number, number>;
}

interface WatchedGroup {
  polledAt: number;
  isPolling: boolean;
  role: Role;
  asked: Asked | undefined;
  /** By the clock, so that the next run, a minute later, goes on where this one ends. */
  turn: number;
}

/**
 * Finds groups whose readers answer but do not replicate any more, and has the writer read until they do. Every ten
 * seconds the writer says how far some logs go, and the readers must be as far ten seconds later: two statements a
 * poll.
 *
 * It does not find a reader that is down, nor one of two that stands still: in both cases another node answers.
 */
export function readerWatch(context: StoreContext, options: ReaderWatchOptions = {}) {
  const { report = () => undefined, everyMs = EVERY_MS, now = () => performance.now() } = options;
  const datastores = new Set<string>();
  const groups = new Map<string, WatchedGroup>();

  async function poll(group: string, watched: WatchedGroup): Promise<void> {
    const client = await context.groups.client(group);
    if (!client.abilities.readsFromReaders || client.nodes < 2) return;
    const { asked } = watched;
    const shown = asked && (await headsOf(client, asked, 'reader'));
    const isBehind = asked !== undefined && shown !== undefined && lacks(shown, asked.heads);
    if (shown && isBehind !== (watched.role === 'writer')) {
      watched.role = isBehind ? 'writer' : 'reader';
      report({ kind: isBehind ? 'readers_behind' : 'readers_back', group });
    }
    // The same shards again until the readers have them: others may have got nothing new, which would prove nothing.
    const page = asked && isBehind ? asked : await nextPage(group, watched);
    watched.asked = page && { datastore: page.datastore, heads: await headsOf(client, page, 'writer') };
  }

  async function nextPage(group: string, watched: WatchedGroup): Promise<Asked | undefined> {
    const pages: Asked[] = [];
    for (const datastore of datastores) {
      const { homes = [] } = (await context.topology.datastore(datastore)) ?? {};
      const shards = homes.flatMap((home, shard) => (home.group === group ? [shard] : []));
      for (const some of slicesOf(shards, SHARDS_A_POLL))
        pages.push({ datastore, heads: new Map(some.map((shard) => [shard, 0])) });
    }
    watched.turn += 1;
    return pages[watched.turn % Math.max(1, pages.length)];
  }

  return {
    /** Compares the shards of a datastore from now on. */
    follow: (datastore: string): void => void datastores.add(datastore),
    /** Returns `reader`, unless the group's readers were found to lack what its writer had some time ago. */
    roleOf(group: string): Role {
      let watched = groups.get(group);
      if (!watched)
        groups.set(
          group,
          (watched = {
            polledAt: now() - everyMs,
            isPolling: false,
            role: 'reader',
            asked: undefined,
            turn: Math.floor(Date.now() / everyMs),
          }),
        );
      if (!watched.isPolling && now() - watched.polledAt >= everyMs) {
        watched.isPolling = true;
        watched.polledAt = now();
        const ended = (): void => void (watched.isPolling = false);
        poll(group, watched).then(ended, ended);
      }
      return watched.role;
    },
  };
}

async function headsOf(client: SqlClient, { datastore, heads }: Asked, role: Role): Promise<Map<number, number>> {
  return toHeads((await selectParts(client, partsOf(selectHeads(datastore, [...heads.keys()])), role)).rows);
}

function lacks(shown: ReadonlyMap<number, number>, wanted: ReadonlyMap<number, number>): boolean {
  return [...wanted].some(([shard, head]) => (shown.get(shard) ?? head) < head);
}

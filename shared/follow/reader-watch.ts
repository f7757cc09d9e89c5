import type { Role } from '../cell.ts';
import type { StoreContext } from '../access/context.ts';
import { partsOf } from '../access/ask-parts.ts';
import { selectParts } from '../sql/select-parts.ts';
import { selectHeads, toHeads } from '../sql/statements/select-heads.ts';
import type { SqlClient } from '../sql/client.ts';
import type { FollowEvent } from './follower.ts';

/** Where the logs of groups are read by those who follow them. */
export interface ReaderWatch {
  /** The logs of a datastore are followed from now on: its shards are compared, too. */
  follow(datastore: string): void;
  /** `reader`, unless a group's readers were found to lack what its writer had some time ago. */
  roleOf(group: string): Role;
}

interface ReaderWatchOptions {
  /** Told when the writer is read in place of readers that stand still, and when they are read again. */
  readonly report?: (event: FollowEvent) => void;
  /** Between looks: so long may a reader lack a cell. @default 10,000 */
  readonly everyMs?: number;
  /** Milliseconds that only go forward. @default those of this process */
  readonly now?: () => number;
}

/** A reader lags by milliseconds, under load by a second or two; one that lags longer is of no use to who waits. */
const EVERY_MS = 10_000;
/** Shards that are compared at a time, in one statement; more of a group have their turn one page after another. */
const SHARDS_A_LOOK = 256;

/** How far the logs of some shards of a datastore went on the writer, when that was last asked. */
interface Asked {
  readonly datastore: string;
  readonly heads: ReadonlyMap<number, number>;
}

interface WatchedGroup {
  lookedAt: number;
  isLooking: boolean;
  role: Role;
  asked: Asked | undefined;
  /** How many pages were begun. */
  turn: number;
}

/**
 * Looks after readers that answer, but whose replication stands still: their logs end where they did, and whoever
 * follows them would wait for ever. Every ten seconds the writer is asked how far some logs go, and readers have to go
 * as far ten seconds later; until they do, the writer is read. Two statements a look, however many follow.
 *
 * A reader that is down is nothing to be found here: the writer answers in its place. Nor are two readers of which one
 * stands still: what one of them does not show another does.
 */
export function readerWatch(context: StoreContext, options: ReaderWatchOptions = {}): ReaderWatch {
  const { report = () => undefined, everyMs = EVERY_MS, now = () => performance.now() } = options;
  const datastores = new Set<string>();
  const groups = new Map<string, WatchedGroup>();

  async function look(group: string, watched: WatchedGroup): Promise<void> {
    const client = await context.groups.client(group);
    if (!client.abilities.readsFromReaders || client.nodes < 2) return;
    const { asked } = watched;
    const shown = asked && (await headsOf(client, asked, 'reader'));
    const isBehind = asked !== undefined && shown !== undefined && lacks(shown, asked.heads);
    if (shown && isBehind !== (watched.role === 'writer')) {
      watched.role = isBehind ? 'writer' : 'reader';
      report({ kind: isBehind ? 'readers_behind' : 'readers_back', group });
    }
    // The same ones again, until the readers have them: others may have got nothing new, and would prove nothing.
    const page = asked && isBehind ? asked : await nextPage(group, watched);
    watched.asked = page && { datastore: page.datastore, heads: await headsOf(client, page, 'writer') };
  }

  async function nextPage(group: string, watched: WatchedGroup): Promise<Asked | undefined> {
    const pages: Asked[] = [];
    for (const datastore of datastores) {
      const { homes = [] } = (await context.topology.datastore(datastore)) ?? {};
      const shards = homes.flatMap((home, shard) => (home.group === group ? [shard] : []));
      for (let start = 0; start < shards.length; start += SHARDS_A_LOOK)
        pages.push({
          datastore,
          heads: new Map(shards.slice(start, start + SHARDS_A_LOOK).map((shard) => [shard, 0])),
        });
    }
    watched.turn += 1;
    return pages[watched.turn % Math.max(1, pages.length)];
  }

  return {
    follow: (datastore) => void datastores.add(datastore),
    roleOf(group) {
      let watched = groups.get(group);
      if (!watched)
        groups.set(
          group,
          (watched = { lookedAt: now() - everyMs, isLooking: false, role: 'reader', asked: undefined, turn: -1 }),
        );
      if (!watched.isLooking && now() - watched.lookedAt >= everyMs) {
        watched.isLooking = true;
        watched.lookedAt = now();
        const ended = (): void => void (watched.isLooking = false);
        // Who does not answer says nothing: the next look will tell.
        look(group, watched).then(ended, ended);
      }
      return watched.role;
    },
  };
}

/** Shards that cannot be read are left out. */
async function headsOf(client: SqlClient, { datastore, heads }: Asked, role: Role): Promise<Map<number, number>> {
  return toHeads((await selectParts(client, partsOf(selectHeads(datastore, [...heads.keys()])), role)).rows);
}

function lacks(shown: ReadonlyMap<number, number>, wanted: ReadonlyMap<number, number>): boolean {
  return [...wanted].some(([shard, head]) => (shown.get(shard) ?? head) < head);
}

import type { Role } from '../cell.ts';
import { readState, updateState } from '../dynamo/state-table.ts';
import type { DynamoTable } from '../dynamo/table.ts';
import { OPENINGS_KEY } from '../granted-names.ts';

/** Interval of polls of the item: as long as a hanging role may hold an unwarned request. */
const POLL_EVERY_MS = 2000;
/** Older openings are ignored: the instance may have been frozen. A needless one costs one health check. */
const NEWS_MS = 5000;

/** The name for moved shards, which no group's role has. */
const MOVED = 'topology';

/** Tells instances that another one found a role down, or that a shard was moved. Best effort. */
export interface OpenCircuits {
  /** Tells the others that a shard moved or has a copy. Returns at once. */
  tellMoved(): void;
  tell(group: string, role: Role): void;
  /** Polls if due, and calls back for each new opening. Returns at once. */
  poll(onNews: (group: string, role: Role) => void, onMoved: () => void): void;
}

/** Keeps one item with an attribute for each circuit: the time of its last opening in ms. */
export function openCircuits(table: DynamoTable, now: () => number = Date.now): OpenCircuits {
  let polledAt = Number.NEGATIVE_INFINITY;
  const seen = new Map<string, number>();

  async function news(): Promise<string[]> {
    const item = (await readState(table, OPENINGS_KEY)) ?? {};
    return Object.entries(item).flatMap(([name, { N: value = '' }]) => {
      const at = Number(value);
      if (name === 'pk' || seen.get(name) === at) return [];
      seen.set(name, at);
      return Math.abs(now() - at) > NEWS_MS ? [] : [name];
    });
  }

  function tellOf(name: string): void {
    const at = now();
    // An instance's own opening is no news.
    seen.set(name, at);
    const change = { update: 'SET #name = :at', names: { '#name': name }, values: { ':at': { N: String(at) } } };
    updateState(table, { key: OPENINGS_KEY, ...change }).catch(() => undefined);
  }

  return {
    tell: (group, role) => tellOf(`${group}/${role}`),
    tellMoved: () => tellOf(MOVED),
    poll(onNews, onMoved) {
      if (Math.abs(now() - polledAt) < POLL_EVERY_MS) return;
      polledAt = now();
      news().then(
        (names) => {
          if (names.includes(MOVED)) onMoved();
          for (const name of names) {
            const end = name.lastIndexOf('/');
            const role = name.slice(end + 1);
            if (role === 'writer' || role === 'reader') onNews(name.slice(0, end), role);
          }
        },
        () => undefined,
      );
    },
  };
}

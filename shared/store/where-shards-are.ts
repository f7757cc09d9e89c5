import { setTimeout as sleep } from 'node:timers/promises';
import { SchemalessError } from '../errors.ts';
import { isGone } from '../sql/gone.ts';
import { refreshSoon } from '../topology/refresh-soon.ts';
import type { Datastore } from '../contract/datastore.ts';
import type { TopologySource } from '../topology/topology.ts';

type Reads = Pick<
  Datastore,
  'get' | 'getLatest' | 'versions' | 'row' | 'batchGet' | 'log' | 'heads' | 'digest' | 'query' | 'count'
>;

/** Looks at the topology, and reads again, so often: the second time at once. */
const TRIES = 3;
const PAUSE_MS = 30;
const REFRESH_MS = 20;

/**
 * Reads that follow shards to other groups: where a server has no table of a shard any more, the topology is looked at
 * anew, and the whole read done again. So a shard that was moved is never answered as it was: what is left of it on its
 * former group goes by another name.
 */
export function whereShardsAre(topology: TopologySource, reads: Reads): Reads {
  async function follow<T>(read: () => Promise<T>, isOfGone: (answer: T) => boolean = never): Promise<T> {
    for (let tried = 1; tried < TRIES; tried += 1) {
      try {
        const answer = await read();
        if (!isOfGone(answer)) return answer;
      } catch (error) {
        if (!isElsewhere(error)) throw error;
      }
      if (tried > 1) await sleep(PAUSE_MS);
      refreshSoon(topology, REFRESH_MS);
    }
    return read();
  }

  return {
    get: (address, options) => follow(() => reads.get(address, options)),
    getLatest: (key, options) => follow(() => reads.getLatest(key, options)),
    versions: (key, options) => follow(() => reads.versions(key, options)),
    row: (key, options) => follow(() => reads.row(key, options)),
    batchGet: (keys, options) => follow(() => reads.batchGet(keys, options), anyElsewhere),
    log: (locations, options) => follow(() => reads.log(locations, options), anyElsewhere),
    heads: (options) => follow(() => reads.heads(options), anyElsewhere),
    digest: (range, options) => follow(() => reads.digest(range, options)),
    query: (query) =>
      follow(
        () => reads.query(query),
        ({ entries }) => query.columns !== undefined && entries.some(({ cells }) => isErrorElsewhere(cells)),
      ),
    count: (query) => follow(() => reads.count(query)),
  };
}

const never = (): boolean => false;

/** A server had no table of a shard. */
function isElsewhere(error: unknown): boolean {
  return error instanceof SchemalessError && isGone(error.cause);
}

function anyElsewhere(items: readonly unknown[]): boolean {
  return items.some(isErrorElsewhere);
}

function isErrorElsewhere(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'error' in item && isElsewhere(item.error);
}

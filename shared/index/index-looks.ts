import { SchemalessError } from '../errors.ts';
import { ageOf, moment, type Moment } from '../time.ts';
import type { IndexNow } from '../topology/index-now.ts';
import type { TopologySource } from '../topology/topology.ts';

/** Looks at the indexes of a datastore past the cache, which may be a minute old. */
export interface IndexLooks {
  /** An index as the topology table says at this moment. Throws `unavailable` when the table cannot be read. */
  now(name: string): Promise<IndexNow>;
  /**
   * The same, a second old at most: however many queries come that do not fit, they cost a look a second for each
   * index. Names that no index has, as far as is known, share one look; undefined while it was for another name.
   */
  recent(name: string): Promise<IndexNow | undefined>;
}

const RECENT_MS = 1000;

interface Look {
  readonly at: Moment;
  readonly name: string;
  readonly found: Promise<IndexNow>;
}

export function indexLooks(topology: TopologySource, datastore: string): IndexLooks {
  /** By index; the last one at a name that is not listed under no name. */
  const looks = new Map<string, Look>();

  async function laneOf(name: string): Promise<string> {
    return (await topology.indexes(datastore)).some((one) => one.name === name) ? name : '';
  }

  function look(name: string, lane: string): Promise<IndexNow> {
    const found = topology.indexNow(datastore, name).catch((cause: unknown) => {
      throw new SchemalessError('unavailable', 'the topology cannot be read', { cause });
    });
    // What an operator was told is known to queries, too.
    looks.set(lane, { at: moment(), name, found });
    return found;
  }

  return {
    now: async (name) => look(name, await laneOf(name)),
    async recent(name) {
      const lane = await laneOf(name);
      const last = looks.get(lane);
      if (!last || ageOf(last.at) >= RECENT_MS) return look(name, lane);
      return last.name === name ? last.found : undefined;
    },
  };
}

import { SchemalessError } from '../errors.ts';
import { nextLook } from '../next-look.ts';
import type { IndexNow } from '../topology/index-now.ts';
import type { TopologySource } from '../topology/topology.ts';

/** Looks past the cache, a bounded number of times (`nextLook`). Throws `unavailable`. */
export type IndexLooks = (name: string) => Promise<IndexNow>;

export function indexLooks(topology: TopologySource, datastore: string): IndexLooks {
  const looks = new Map<string, () => Promise<IndexNow>>();
  return (name) => {
    let look = looks.get(name);
    if (!look) {
      look = nextLook(() =>
        topology.indexNow(datastore, name).catch((cause: unknown) => {
          throw new SchemalessError('unavailable', 'the topology cannot be read', { cause });
        }),
      );
      looks.set(name, look);
    }
    return look();
  };
}

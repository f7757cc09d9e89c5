import { SchemalessError } from '../errors.ts';
import { nextPoll } from '../next-poll.ts';
import type { IndexNow } from '../topology/index-now.ts';
import type { TopologySource } from '../topology/topology.ts';

/** Polls past the cache, a bounded number of times (`nextPoll`). Throws `unavailable`. */
export type IndexPolls = (name: string) => Promise<IndexNow>;

export function indexPolls(topology: TopologySource, datastore: string): IndexPolls {
  const polls = new Map<string, () => Promise<IndexNow>>();
  return (name) => {
    let poll = polls.get(name);
    if (!poll) {
      poll = nextPoll(() =>
        topology.indexNow(datastore, name).catch((cause: unknown) => {
          throw new SchemalessError('unavailable', 'the topology cannot be read', { cause });
        }),
      );
      polls.set(name, poll);
    }
    return poll();
  };
}

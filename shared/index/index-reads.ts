import type { StoreContext } from '../access/context.ts';
import type { Datastore, IndexOperations } from '../contract/datastore.ts';
import { indexLooks } from './index-looks.ts';
import type { IndexesAsked } from './live-index.ts';
import { entryReads } from './read-entries.ts';
import { runCount } from './run-count.ts';
import { runQuery } from './run-query.ts';
import { indexStatus, indexStatuses } from './status.ts';

/** The reads of a datastore's indexes. */
export function indexReads(
  context: StoreContext,
  datastore: string,
): Pick<Datastore, 'query' | 'count'> & IndexOperations {
  const asked: IndexesAsked = { topology: context.topology, datastore, looks: indexLooks(context.topology, datastore) };
  const reads = entryReads(datastore);
  return {
    query: (query) => runQuery(context, asked, reads, query),
    count: (query) => runCount(context, asked, query),
    indexes: () => indexStatuses(asked),
    index: (name) => indexStatus(asked, name),
  };
}

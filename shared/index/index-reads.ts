import type { StoreContext } from '../store/context.ts';
import type { Datastore, IndexOperations } from '../store/datastore.ts';
import { entryReads } from './read-entries.ts';
import { runQuery } from './run-query.ts';
import { indexStatus, indexStatuses } from './status.ts';

/** The reads of a datastore's indexes. */
export function indexReads(context: StoreContext, datastore: string): Pick<Datastore, 'query'> & IndexOperations {
  const reads = entryReads(datastore);
  return {
    query: (query) => runQuery(context, datastore, reads, query),
    indexes: () => indexStatuses(context, datastore),
    index: (name) => indexStatus(context, datastore, name),
  };
}

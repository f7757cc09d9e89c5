import type { INDEX_LISTS, QUERIES } from '../../../shared/api/indexes.ts';
import type { IndexEntry } from '../../../shared/contract/index-query.ts';
import type { Deployment } from '../../../shared/store/deployment.ts';
import { shownItems } from '../answer.ts';
import type { Answers } from '../answering.ts';

export const INDEXES: Answers<typeof QUERIES & typeof INDEX_LISTS, Deployment> = {
  async queryIndex({ datastore, index, where, column, ...asked }, { room, packed }, deployment) {
    const store = await deployment.datastore(datastore);
    const isQuery = Object.keys(where).length > 0 || column !== undefined || Object.keys(asked).length > 0;
    if (!isQuery) return { status: 200, body: await store.getIndex(index) };
    const columns = column;
    const answer = await store.query({ index, where, columns, ...asked, batched: room !== undefined, room, packed });
    const body = { ...answer, entries: answer.entries.map(shownEntry) };
    // JSON of fields alone is faster to encode and parse.
    return { status: 200, body, packed: packed && columns !== undefined };
  },
  async countEntries({ datastore, ...wanted }, _request, deployment) {
    return { status: 200, body: await (await deployment.datastore(datastore)).count(wanted) };
  },
  async listIndexes({ datastore }, _request, deployment) {
    return { status: 200, body: await (await deployment.datastore(datastore)).listIndexes() };
  },
};

function shownEntry(found: IndexEntry): object {
  if (found.cells === undefined) return found;
  const { cells, ...entry } = found;
  return { ...entry, cells: 'error' in cells ? shownItems([cells])[0] : shownItems(cells) };
}

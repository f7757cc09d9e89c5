import { parseColumnName } from '../../../shared/address.ts';
import { invalidField } from '../../../shared/errors.ts';
import type { IndexEntry, IndexQuery } from '../../../shared/contract/index-query.ts';
import { readConditions } from '../conditions.ts';
import { shownItems } from '../problem.ts';
import type { Query } from '../query.ts';
import type { HttpRequest } from '../request.ts';
import type { HttpOperation } from './operation.ts';
import { readLimit, readRole } from './read-options.ts';

const NAMES = {
  once: ['fields', 'order', 'limit', 'after', 'cursor', 'read', 'explain'],
  repeated: ['column'],
  others: true,
} as const;

/** GET /indexes/{index}: the entries that meet the conditions; without any parameter, the state of the index. */
export const queryIndex: HttpOperation = async (request, deployment) => {
  const index = request.path('index');
  const parameters = request.query(NAMES);
  const query = parameters.empty ? undefined : readIndexQuery(index, parameters, request);
  const datastore = await deployment.datastore(request.path('datastore'));
  if (query === undefined) return { status: 200, body: await datastore.index(index) };
  const answer = await datastore.query(query);
  const body = { ...answer, entries: answer.entries.map(shownEntry) };
  // Of fields alone JSON is what is written, and read, faster.
  return { status: 200, body, packed: request.packed && query.columns !== undefined };
};

/** What only the definition can tell, fields and the types of values, is the datastore's to check. */
function readIndexQuery(index: string, query: Query, { room, packed }: HttpRequest): IndexQuery {
  return {
    index,
    where: readConditions(query.others),
    fields: readFields(query.text('fields')),
    columns: readColumns(query.texts('column')),
    order: query.text('order'),
    limit: readLimit(query),
    after: query.text('after'),
    cursor: query.text('cursor'),
    read: readRole(query),
    together: room !== undefined,
    room,
    packed,
    explain: query.choice('explain', ['true', 'false']) === 'true',
  };
}

function readFields(text: string | undefined): readonly string[] | undefined {
  return text === '' ? [] : text?.split(',');
}

function readColumns(names: readonly string[] | undefined): readonly string[] | '*' | undefined {
  if (names?.includes('*') !== true) return names?.map((name) => parseColumnName(name, 'column'));
  if (names.length > 1) throw invalidField('column', '`*` alone, or names of columns', names.join(', '));
  return '*';
}

function shownEntry(found: IndexEntry): object {
  if (found.cells === undefined) return found;
  const { cells, ...entry } = found;
  return { ...entry, cells: 'error' in cells ? shownItems([cells])[0] : shownItems(cells) };
}

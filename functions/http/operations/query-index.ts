import { parseColumnName } from '../../../shared/address.ts';
import { LIMITS } from '../../../shared/cell.ts';
import type { Condition, IndexEntry, IndexQuery, Operator } from '../../../shared/contract/index-query.ts';
import { QUERY_WORDS } from '../../../shared/definitions/query-words.ts';
import { invalidField } from '../../../shared/errors.ts';
import { OPERATORS } from '../../../shared/index/query.ts';
import { readLimit, readRole, type Query, type HttpRequest } from '../request.ts';
import { shownItems } from '../answer.ts';
import type { HttpOperation } from './operation.ts';

const NAMES = {
  once: ['fields', 'order', 'limit', 'after', 'read', 'explain'],
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

/** GET /indexes/{index}/count: how many entries meet the conditions, as far as `limit`. */
export const countEntries: HttpOperation = async (request, deployment) => {
  const query = request.query({ once: ['limit', 'read'], others: true });
  const wanted = {
    index: request.path('index'),
    where: readConditions(query.others),
    limit: query.integer('limit', 1, LIMITS.countedEntries),
    read: readRole(query),
  };
  const datastore = await deployment.datastore(request.path('datastore'));
  return { status: 200, body: await datastore.count(wanted) };
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
    read: readRole(query),
    together: room !== undefined,
    room,
    packed,
    explain: query.choice('explain', ['true', 'false']) === 'true',
  };
}

/** In brackets behind the field; equality has none. */
const BRACKETED = OPERATORS.filter((operator) => operator !== 'eq');
const WANTED_CONDITION = `a field, alone for equality or with one of ${BRACKETED.map((operator) => `[${operator}]`).join(' ')} behind it`;

/**
 * The conditions of a query string: `city=Lisbon`, `riders[gte]=2`, `city[in]=Lisbon&city[in]=Porto`. `parameters`: all
 * but those that mean something else; names and values decoded. Throws SchemalessError `invalid_field` for a name that
 * is no condition, and for a second value where one is taken.
 */
function readConditions(parameters: ReadonlyMap<string, readonly string[]>): readonly Condition[] {
  return [...parameters].map(([name, values]) => {
    const { field, operator } = readName(name);
    if (operator !== 'in' && values.length > 1)
      throw invalidField(name, 'one value', values.slice(0, 2).join(', then '));
    return { field, operator, values };
  });
}

function readName(name: string): { readonly field: string; readonly operator: Operator } {
  const [, field = '', bracketed] = /^([^[\]]+)(?:\[(\w*)\])?$/.exec(name) ?? [];
  const operator = bracketed === undefined ? 'eq' : BRACKETED.find((known) => known === bracketed);
  if (field === '' || operator === undefined) throw invalidField(name, WANTED_CONDITION, name);
  if (operator !== 'eq' && QUERY_WORDS.includes(field))
    throw invalidField(name, `${field} without an operator: it is no field`, name);
  return { field, operator };
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

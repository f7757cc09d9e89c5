import type { Where } from '../where.ts';
import type { Operation } from '../api/operation.ts';
import { namesIn, PATH } from '../api/path.ts';
import { checkBody } from '../body/measure.ts';
import { INDEX_NAME, TRIGGER_NAME } from '../definitions/definitions.ts';
import { missingField, unknownField } from '../errors.ts';
import type { Call } from './calls.ts';
import { pathName, toParameters } from './conditions.ts';

/** Parameters of an operation, by name: of path, query and body. */
export type Parameters = Readonly<Record<string, unknown>>;

/** Returns the call of an operation. Throws SchemalessError for a parameter that would change its path or meaning. */
export function callOf(operation: Operation, parameters: Parameters): Call {
  const { method, path, query = {}, where, body, whole, answers, refusesUndefined } = operation;
  if (refusesUndefined)
    for (const [name, value] of Object.entries(parameters))
      if (value === undefined) throw missingField(name, 'a value, or not to be there');
  // The datastore is the client's own.
  const inPath: readonly string[] = namesIn(path).filter((name) => name !== 'datastore');
  const inQuery = Object.keys(query);
  const known = [...inPath, ...inQuery, ...(where ? ['where'] : []), ...(whole ? ['body'] : [])];
  const members = Object.entries(parameters).filter(([name]) => !known.includes(name));
  const hasMembers = body !== undefined && whole !== true;
  // The server checks the members of a body, and names unknown ones.
  const [stranger] = members[0] ?? [];
  if (stranger !== undefined && !hasMembers) throw unknownField(stranger, known);
  checkSent(whole === true ? { body: parameters['body'] } : Object.fromEntries(members));
  const conditions = where === undefined ? {} : toParameters((parameters['where'] ?? {}) as Where);
  const asked = inQuery.map((name) => [name, written(parameters[name], query[name]?.isJoined)] as const);
  const statuses = Object.keys(answers)
    .map(Number)
    .filter((status) => status >= 300);
  return {
    method,
    ...(statuses.length > 0 && { statuses }),
    path: partsOf(path, parameters),
    query: { ...conditions, ...Object.fromEntries(asked) },
    ...(whole === true && { body: parameters['body'] }),
    ...(hasMembers && members.length > 0 && { body: Object.fromEntries(members) }),
  };
}

/** Refuses NaN, a Date or a function, which JSON text would silently change for good. Throws SchemalessError. */
function checkSent(members: Parameters, prefix = ''): void {
  for (const [name, value] of Object.entries(members)) {
    const field = `${prefix}${name}`;
    if (value === undefined) continue;
    if (Array.isArray(value) && value.some(isPlain))
      for (const [position, item] of value.entries()) {
        if (isPlain(item)) checkSent(item, `${field}[${position}].`);
        else checkBody(item, `${field}[${position}]`);
      }
    else checkBody(value, field, name === 'body' ? undefined : Infinity);
  }
}

function isPlain(value: unknown): value is Parameters {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function partsOf(path: string, parameters: Parameters): Call['path'] {
  // The connection has the version and the part after it.
  return path
    .split('/')
    .slice(3)
    .map((part) => (part.startsWith('{') ? partOf(part.slice(1, -1), parameters) : part));
}

function partOf(name: string, parameters: Parameters): string {
  const value = parameters[name];
  if (value === undefined) throw missingField(name, 'a part of the path');
  const text = String(value);
  if (name === 'index') return pathName('index', INDEX_NAME, text);
  if (name === 'trigger') return pathName('trigger', TRIGGER_NAME, text);
  PATH[name as keyof typeof PATH].read(text, name);
  return text;
}

function written(value: unknown, isJoined: true | undefined): string | number | readonly string[] | undefined {
  if (Array.isArray(value)) return isJoined ? value.join(',') : value.map(String);
  return value === undefined ? undefined : String(value);
}

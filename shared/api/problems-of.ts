import type { ErrorCode } from '../errors.ts';
import type { Operation } from './operation.ts';

/** Problems of every operation. */
const ANY = ['unknown_field', 'internal'] as const;
/** Problems of every operation on a datastore. */
const OF_DATASTORE = ['unknown_datastore', 'unavailable'] as const;
/** Problems of every operation that takes a body. */
const OF_BODY = ['invalid_json', 'invalid_field', 'request_too_large'] as const;

/** The codes of the problems that an operation can answer: those of what it takes, and its own. */
export function problemsOf({ path, query, where, body, mayLackBody, errors }: Operation): readonly ErrorCode[] {
  return [
    ...ANY,
    ...(path.includes('{datastore}') ? OF_DATASTORE : []),
    ...(body === undefined ? [] : OF_BODY),
    ...(body === undefined || mayLackBody ? [] : (['missing_field'] as const)),
    ...(query !== undefined || where !== undefined || path.includes('{') ? (['invalid_field'] as const) : []),
    ...errors,
  ];
}

import { randomBytes } from 'node:crypto';
import type { NewCell } from '../../../shared/cell.ts';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { Random } from '../../support/random.ts';
import { randomRowKey } from '../../support/row-key.ts';
import { numberedRowKey } from '../growth/numbered-trips.ts';

/** `POST` has an index, which only scans need; no index knows `BASE`. */
export type RecordColumn = 'BASE' | 'POST';

/** Scans ask it: the posts of one thread, in their order. */
export const THREAD_INDEX: IndexDefinition = {
  name: 'thread_index',
  fields: [
    { field: 'thread', type: 'UUID', column_key: 'POST' },
    { field: 'post', type: 'integer', column_key: 'POST' },
  ],
  keys: [],
};

const FIELDS = 10;
const FIELD_LENGTH = 100;
/** Ten times the longest scan: few scans meet the end of their thread, and are shorter for it. */
const POSTS_A_THREAD = 1000;

/** A record is a row with one column, whose latest cell has all of its fields. */
export function newRecord(column: RecordColumn, number: number, ref_key = 1): NewCell {
  return {
    row_key: numberedRowKey(column, number),
    column_name: column,
    ref_key,
    body: { ...(column === 'POST' && positionInThread(number)), ...newFields() },
  };
}

/** Under which value of the shard field a post is, and where in the order of those. */
export function positionInThread(number: number): { readonly thread: string; readonly post: number } {
  return {
    thread: randomRowKey(new Random('POST', 'thread', Math.floor(number / POSTS_A_THREAD))),
    post: number % POSTS_A_THREAD,
  };
}

export function* newRecords(columns: readonly RecordColumn[], count: number): Generator<NewCell, void> {
  for (const column of columns) for (let number = 0; number < count; number += 1) yield newRecord(column, number);
}

/** Random characters, six bits each: zlib makes them a quarter shorter at best. */
export function newFieldText(): string {
  return randomBytes((FIELD_LENGTH * 3) / 4).toString('base64');
}

function newFields(): { readonly [field: string]: string } {
  return Object.fromEntries(Array.from({ length: FIELDS }, (_, position) => [`field${position}`, newFieldText()]));
}

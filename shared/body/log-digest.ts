import { hash } from 'node:crypto';
import type { Cell } from '../cell.ts';
import { stringifyJson } from './json.ts';

export const EMPTY_DIGEST = '0'.repeat(64);

/**
 * The digest of a shard's log up to a cell: each cell is hashed together with the digest before it. Two logs are equal up
 * to a place if their digests there are: cells, ref keys, bodies, order and times.
 *
 * It means the same on every server, in exports and in any language: the SHA-256, in hexadecimal, of the UTF-8 text
 * `BEFORE ADDED_ID ROW_KEY REF_KEY CREATED_AT BODY COLUMN_NAME`. BODY is the SHA-256 of the body's JSON as the API answers
 * it: no white space, keys in their order. Of an erased body it is what is left, of an erasure what the log says of it.
 *
 * `before`: the digest of the log up to the cell before, `EMPTY_DIGEST` for the first.
 */
export function nextDigest(before: string, cell: Omit<Cell, 'shard'>): string {
  const { added_id, row_key, ref_key, created_at, column_name } = cell;
  const { erasure } = cell;
  const json = erasure ? { id: erasure.id, scope: erasure.scope, reason: erasure.reason } : cell.body;
  const body = cell.body_sha256 ?? hash('sha256', stringifyJson(json));
  // A column name may contain anything, so it comes last.
  return hash('sha256', `${before} ${added_id} ${row_key} ${ref_key} ${created_at} ${body} ${column_name}`);
}

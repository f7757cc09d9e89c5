import { hash } from 'node:crypto';
import type { Cell } from '../cell.ts';
import { stringifyJson } from './json.ts';

export const EMPTY_DIGEST = '0'.repeat(64);

/**
 * Returns the digest of a shard's log up to a cell, a hash of the cell and the digest before it. Two logs with equal
 * digests at an added id are equal up to it: cells, ref keys, bodies, order and times.
 *
 * It is the same on every server, in exports and in any language: the SHA-256, in hexadecimal, of the UTF-8 text
 * `BEFORE ADDED_ID ROW_KEY REF_KEY CREATED_AT BODY COLUMN_NAME`. BODY is the SHA-256 of the body's JSON as in the API:
 * no white space, keys in their order. For an erased body it is the kept hash, for an erasure that of its note.
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

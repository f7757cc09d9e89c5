import type { Cell } from '../../../shared/cell.ts';
import type { Ask } from './api.ts';
import type { Value } from './exact-json.ts';

/** A cell of the page, without its body until the user asks for it. */
export type ShownCell = Omit<Cell, 'body'> & {
  readonly body: Value;
  readonly hidden?: true;
  readonly error?: { readonly code: string; readonly detail: string };
};

interface Key {
  readonly row_key: string;
  readonly column_name: string;
  readonly ref_key: number;
}

/** Reads up to 100 cells of any columns, null for missing ones. The API logs the request. */
export async function cellsWithBodies(keys: readonly Key[], ask: Ask): Promise<readonly (ShownCell | null)[]> {
  if (keys.length === 0) return [];
  const wanted = keys.map(({ row_key, column_name, ref_key }) => ({ row_key, column_name, ref_key }));
  return batchGet(wanted, ask, true);
}

export async function batchGet(
  keys: readonly Omit<Key, 'ref_key'>[],
  ask: Ask,
  shown = false,
): Promise<readonly (ShownCell | null)[]> {
  return (await ask<{ cells: readonly (ShownCell | null)[] }>(['batch-get'], { body: { keys }, shown })).cells;
}

export function isPathColumn(name: string): boolean {
  return /^[\w .-]+$/u.test(name) && name !== '.' && name !== '..';
}

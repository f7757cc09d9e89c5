import type { StoreContext } from '../access/context.ts';
import type { Erasure } from '../api/erasures.ts';
import { erasureAddress, type ErasureTarget } from '../address.ts';
import { reservedWrites } from '../store/write-cells.ts';

/** The requester of erasures by retention; no caller has this name. */
export const RETENTION = 'retention';

export function targetOf({ row_key, column_name, ref_key, up_to }: Erasure): ErasureTarget {
  return {
    row_key,
    ...(column_name !== null && { column_name }),
    ...(ref_key !== null && { ref_key }),
    ...(up_to !== null && { up_to }),
  };
}

/** The location of an erasure: the log, a wider erasure there, hints until its primary is back, or none yet. */
type Placed =
  | { readonly at: 'log'; readonly added_id: number }
  | { readonly at: 'wider' }
  | { readonly at: 'buffers' | 'nowhere'; readonly why: string };

/** Appends an erasure to the log as any write: hinted first, and buffered while its primary is unavailable. */
export async function placeErasure(context: StoreContext, datastore: string, erasure: Erasure): Promise<Placed> {
  const { id, reason, requested_by } = erasure;
  const why = requested_by === RETENTION ? { why: RETENTION } : {};
  const cell = { ...erasureAddress(targetOf(erasure)), body: { id, reason, requested_by, ...why } };
  const put = await reservedWrites(context, datastore);
  const result = await put(cell);
  switch (result.outcome) {
    case 'stored':
    case 'stored_before':
      return { at: 'log', added_id: result.added_id };
    case 'conflict':
      // The same erasure, with another reason or caller.
      return result.added_id === undefined
        ? { at: 'nowhere', why: 'not confirmed' }
        : { at: 'log', added_id: result.added_id };
    case 'erased':
      return { at: 'wider' };
    case 'subject_forgotten':
      throw new Error('an erasure that names a subject');
    case 'buffered':
      return { at: 'buffers', why: 'its primary does not accept it yet' };
    case 'unavailable':
      return { at: 'nowhere', why: result.reason };
    default:
      return result satisfies never;
  }
}

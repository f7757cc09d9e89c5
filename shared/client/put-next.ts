import { parseAddress } from '../address.ts';
import type { NewCell, PutResult } from '../cell.ts';
import { SchemalessError } from '../errors.ts';
import type { Datastore } from '../contract/datastore.ts';

/**
 * Writes a cell at the column's next ref key: the latest one's and 1, or 0 where the column is empty. When another
 * writer takes that ref key first, the next one is tried. Where all of the column was erased, or versions up to a higher
 * one, the result is `erased`.
 *
 * Not for bodies that may be equal to each other: two writers that add an equal body at the same moment add one cell.
 * And while the column's primary is down, two writers can be given the same ref key: what is `buffered` is not
 * readable yet; one of the two is then kept as a conflict.
 *
 * **Not to be repeated as it is** once a write may have been sent: the cell may be there, and would be there twice. Where
 * that is so the result `unavailable` has the `ref_key`, and what is thrown has it in `details.address`: repeat it as a
 * `put` at that ref key. What is thrown without an address has written nothing.
 */
export type PutNext = (cell: Omit<NewCell, 'ref_key'>) => Promise<PutResult & { readonly ref_key: number }>;

export type NextCell = Omit<NewCell, 'ref_key'> & { readonly ref_key?: undefined };

/** Writes a cell; one without a ref key at the next one of its column, as `putNext`. */
export interface Put {
  (cell: NewCell): Promise<PutResult>;
  (cell: NextCell): ReturnType<PutNext>;
}

export function putOver(put: Datastore['put'], putNext: PutNext): Put {
  return ((cell: NewCell | NextCell) => (cell.ref_key === undefined ? putNext(cell) : put(cell))) as Put;
}

/** Ref keys tried at most: a column that many writers race for is better given ref keys by the application. */
const TRIES = 32;

export function putNextOver({ put, getLatest }: Pick<Datastore, 'put' | 'getLatest'>): PutNext {
  return async (cell) => {
    const { row_key, column_name, body } = cell;
    let ref_key = 0;
    for (let tries = 1; ; tries += 1) {
      // One that was erased keeps its ref key.
      const { cell: latest } = await getLatest({ row_key, column_name });
      // The latest may be one that is behind: then at least the ref key known to be taken is passed.
      ref_key = Math.max(ref_key, (latest?.ref_key ?? -1) + 1);
      // Behind the highest there is none.
      const address = parseAddress({ row_key, column_name, ref_key });
      const result = await put({ ...address, body }).catch((error: unknown) => {
        if (!(error instanceof SchemalessError)) throw error;
        throw new SchemalessError(error.code, error.message, { ...error.details, address });
      });
      if (result.outcome !== 'conflict' || tries >= TRIES) return { ...result, ref_key };
      ref_key += 1;
    }
  };
}

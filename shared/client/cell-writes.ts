import { parseAddress, isPathColumnName } from '../address.ts';
import { checkBody } from '../body/measure.ts';
import type { NewCell, PutResult, RestoredCell } from '../cell.ts';
import { confirmed, type Confirmed } from '../confirmed.ts';
import type { Datastore } from '../contract/datastore.ts';
import { missingField, SchemalessError } from '../errors.ts';
import { toPutResult, firstOf } from './answers.ts';
import type { Connection } from './calls.ts';
import type { OwnWrites } from './own-writes.ts';

/** A cell to write. Without a ref key it takes the next one of its column. */
export type CellToPut = Omit<NewCell, 'ref_key'> & Partial<Pick<NewCell, 'ref_key'>>;

/** A result with the ref key of the cell. */
export type Numbered<Result> = Result & { readonly ref_key: number };

/** The outcome of a write. The shard is missing if no API answered. */
export type Outcome = Numbered<
  PutResult | { readonly outcome: 'unavailable'; readonly shard?: undefined; readonly reason: string }
>;

interface CellWrites extends Pick<Datastore, 'batchPut' | 'batchRestore'> {
  readonly put: (cell: CellToPut) => Promise<Numbered<Confirmed>>;
  readonly tryPut: (cell: CellToPut) => Promise<Outcome>;
  readonly putNext: (cell: Omit<NewCell, 'ref_key'>) => Promise<Numbered<Confirmed>>;
}

/** The most ref keys that `putNext` tries: an application should assign the ref keys of a contended column. */
const TRIES = 32;

/** Writes over HTTP. Notes results for reads that must show them. */
export function cellWrites(
  send: Connection,
  own: OwnWrites | undefined,
  getLatest: Datastore['getLatest'],
): CellWrites {
  const resultOf = (json: { readonly [member: string]: unknown }): PutResult => {
    const result = toPutResult(json);
    own?.note(result);
    return result;
  };
  const batch =
    <Given extends NewCell>(route: string, moreOf?: (cell: Given) => object) =>
    async (cells: readonly Given[]): Promise<readonly PutResult[]> => {
      const checked = cells.map((cell, position) => ({ ...checkCell(cell, `cells[${position}].`), ...moreOf?.(cell) }));
      const { json } = await send({ method: 'POST', path: [route], body: { cells: checked } });
      return (json['results'] as readonly { readonly [member: string]: unknown }[]).map(resultOf);
    };
  const batchPut = batch('batch-put');
  const putOne = async ({ body, ...address }: NewCell): Promise<PutResult> => {
    const { row_key, column_name, ref_key } = address;
    if (!isPathColumnName(column_name)) return firstOf(await batchPut([{ ...address, body }]));
    const path = ['cells', row_key, column_name, ref_key];
    return resultOf((await send({ method: 'PUT', path, body, joins: 'batch-put', address })).json);
  };
  const put = async (cell: NewCell): Promise<Numbered<Confirmed>> => {
    const { body, ...address } = checkCell(cell);
    const result = await putOne({ ...address, body }).catch((error: unknown) => {
      if (!(error instanceof SchemalessError)) throw error;
      throw new SchemalessError(error.code, error.message, { ...error.details, address });
    });
    return { ...confirmed(address, result), ref_key: address.ref_key };
  };
  const putNext: CellWrites['putNext'] = async ({ row_key, column_name, body }) => {
    let ref_key = 0;
    for (let tries = 1; ; tries += 1) {
      // An erased cell keeps its ref key.
      const { cell: latest } = await getLatest({ row_key, column_name });
      // The read may be behind: pass at least the ref key that is known to be taken.
      ref_key = Math.max(ref_key, (latest?.ref_key ?? -1) + 1);
      try {
        // Throws after the highest ref key.
        return await put({ row_key, column_name, ref_key, body });
      } catch (error) {
        if (!(error instanceof SchemalessError) || error.code !== 'conflict' || tries >= TRIES) throw error;
        ref_key += 1;
      }
    }
  };
  const putOrNext: CellWrites['put'] = async (cell) => {
    if (!('ref_key' in cell)) return putNext(cell);
    const { ref_key } = cell;
    if (ref_key === undefined) throw missingField('ref_key', 'a whole number, or no such member for the next one');
    return put({ ...cell, ref_key });
  };
  return {
    batchPut,
    batchRestore: batch('batch-restore', ({ created_at }: RestoredCell) => ({ created_at })),
    put: putOrNext,
    putNext,
    tryPut: (cell) => putOrNext(cell).catch(outcomeOf),
  };
}

/** Refuses values that JSON text would silently change (NaN, undefined, a Date). */
export function checkCell(cell: NewCell, prefix = ''): NewCell {
  const address = parseAddress(cell, prefix);
  checkBody(cell.body, `${prefix}body`);
  return { ...address, body: cell.body };
}

/** Returns the outcome of a put that failed; rethrows an error that is none. */
function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof SchemalessError) || error.details.address === undefined) throw error;
  const { code, message: reason, field } = error;
  const { address, more } = error.details;
  const { ref_key } = address;
  // Such as an overload, or a gateway's own 500: the write may have been done all the same.
  if (error.retry === 'later') return { ...toPutResult({ ...more, outcome: 'unavailable', reason }), ref_key };
  if (more?.['outcome'] === undefined) throw error;
  return { ...toPutResult({ ...more, ...(code === 'subject_forgotten' && { field }) }), ref_key };
}

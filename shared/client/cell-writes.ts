import { parseAddress, isPathColumnName } from '../address.ts';
import { checkBody } from '../body/measure.ts';
import type { NewCell, PutResult, RestoredCell } from '../cell.ts';
import type { Datastore } from '../contract/datastore.ts';
import { SchemalessError } from '../errors.ts';
import { toPutResult, firstOf } from './answers.ts';
import type { Connection } from './calls.ts';
import type { OwnWrites } from './own-writes.ts';

/** Writes over HTTP. What they are answered is noted for reads that have to show it. */
export function cellWrites(
  send: Connection,
  own: OwnWrites | undefined,
): Pick<Datastore, 'put' | 'batchPut' | 'batchRestore'> {
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
  return {
    batchPut,
    batchRestore: batch('batch-restore', ({ created_at }: RestoredCell) => ({ created_at })),
    async put(cell): Promise<PutResult> {
      const { row_key, column_name, ref_key, body } = checkCell(cell);
      if (!isPathColumnName(column_name)) return firstOf(await batchPut([cell]));
      try {
        const path = ['cells', row_key, column_name, ref_key];
        const address = { row_key, column_name, ref_key };
        const reply = await send({ method: 'PUT', path, body, joins: 'batch-put', address });
        return resultOf(reply.json);
      } catch (error) {
        if (error instanceof SchemalessError && error.details.more?.['outcome'] !== undefined)
          return resultOf({
            ...(error.code === 'unavailable' && { reason: error.message }),
            ...(error.code === 'subject_forgotten' && { field: error.details.field }),
            ...error.details.more,
          });
        throw error;
      }
    },
  };
}

/** What JSON text would quietly change (NaN, undefined, a Date) is refused here. */
export function checkCell(cell: NewCell, prefix = ''): NewCell {
  const address = parseAddress(cell, prefix);
  checkBody(cell.body, `${prefix}body`);
  return { ...address, body: cell.body };
}

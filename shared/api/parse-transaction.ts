import { addressKey, parseBatch, parseColumnName, parseRefKey, parseRowKey } from '../address.ts';
import { jsonBytes } from '../body/measure.ts';
import { LIMITS, type CellOfRow, type LatestCondition, type NewCell, type RowTransaction } from '../cell.ts';
import { invalidField, missingField, SchemalessError } from '../errors.ts';

export type CellToPrepare = CellOfRow & Pick<NewCell, 'row_key'>;

interface ParsedTransaction<Prepared> {
  readonly cells: readonly Prepared[];
  readonly conditions: readonly LatestCondition[];
}

/** Checks a transaction. `prepare` checks each cell. Throws a SchemalessError that names the field. */
export function parseTransaction<Prepared extends NewCell>(
  { row_key, cells: given, if: conditions = [] }: RowTransaction,
  prepare: (cell: CellToPrepare, prefix: string) => Prepared,
): ParsedTransaction<Prepared> {
  const row = parseRowKey(row_key);
  if (given === undefined) throw missingField('cells', `an array of 1 to ${LIMITS.transactionCells} cells`);
  const cells = parseBatch(
    given,
    'cells',
    (cell, prefix) => prepare({ ...cell, row_key: row }, prefix),
    LIMITS.transactionCells,
  );
  if (cells.length === 0) throw invalidField('cells', `1 to ${LIMITS.transactionCells} cells`, 'none');
  refuseRepeats(cells.map(addressKey), (position) => `cells[${position}]`, 'an address of its own');
  const timed = given.filter(({ created_at }) => created_at !== undefined).length;
  if (timed !== 0 && timed !== given.length)
    throw invalidField('cells', 'created_at in all cells, or in none', `it in ${timed} of ${given.length}`);
  const bytes = cells.length === 1 ? 0 : cells.reduce((sum, { body }) => sum + jsonBytes(body), 0);
  if (bytes > LIMITS.bodyBytes)
    throw new SchemalessError(
      'body_too_large',
      `cells: wanted at most ${LIMITS.bodyBytes} bytes of JSON, got ${bytes}`,
      {
        field: 'cells',
      },
    );
  const parsed = parseBatch(conditions, 'if', parseCondition, LIMITS.transactionCells);
  if (timed > 0 && parsed.length > 0) throw invalidField('if', 'none for cells with created_at', parsed);
  refuseRepeats(
    parsed.map(({ column_name }) => column_name),
    (position) => `if[${position}].column_name`,
    'one condition for each column',
  );
  return { cells, conditions: parsed };
}

function parseCondition({ column_name, latest }: LatestCondition, prefix: string): LatestCondition {
  const wanted = 'the ref key of the latest cell, or null for none';
  if (latest === undefined) throw missingField(`${prefix}latest`, wanted);
  return {
    column_name: parseColumnName(column_name, `${prefix}column_name`),
    latest: latest === null ? null : parseRefKey(latest, `${prefix}latest`),
  };
}

function refuseRepeats(keys: readonly string[], fieldOf: (position: number) => string, wanted: string): void {
  const repeated = keys.findIndex((key, position) => keys.indexOf(key) !== position);
  if (repeated !== -1)
    throw invalidField(fieldOf(repeated), wanted, `the same as ${fieldOf(keys.indexOf(keys[repeated] as string))}`);
}

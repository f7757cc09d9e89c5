import { isPathColumnName } from '../../shared/api/path-column-name.ts';
import { parseColumnName, parseRowKey } from '../../shared/address.ts';
import { LIMITS, type CellAddress } from '../../shared/cell.ts';
import { invalidField } from '../../shared/errors.ts';
import { parseDigits } from './query.ts';
import type { HttpRequest } from './request.ts';

/** The row key of the path. Throws `invalid_field`. */
export function pathRowKey(request: HttpRequest): string {
  return parseRowKey(request.path('row_key'));
}

/** Row key and column name of the path. Throws `invalid_field`. */
export function pathColumn(request: HttpRequest): Pick<CellAddress, 'row_key' | 'column_name'> {
  const row_key = pathRowKey(request);
  const column_name = parseColumnName(request.path('column_name'));
  if (!isPathColumnName(column_name)) {
    throw invalidField(
      'column_name',
      'A-Z a-z 0-9 _ - space . in a path, and neither "." nor ".."; batch-put and batch-get take any name',
      column_name,
    );
  }
  return { row_key, column_name };
}

/** The cell's address, from the path. Throws `invalid_field`. */
export function pathAddress(request: HttpRequest): CellAddress {
  const ref_key = parseDigits(
    request.path('ref_key'),
    'ref_key',
    0,
    LIMITS.refKey,
    'an integer from 0 to 2^53-1, as digits alone',
  );
  return { ...pathColumn(request), ref_key };
}

/** The shard of the path; whether the datastore has it is the datastore's to say. Throws `invalid_field`. */
export function pathShard(request: HttpRequest): number {
  return parseDigits(request.path('shard'), 'shard', 0, Number.MAX_SAFE_INTEGER, 'the number of a shard');
}

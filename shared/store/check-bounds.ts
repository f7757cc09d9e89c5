import { LIMITS } from '../cell.ts';
import type { PlacedCell } from '../sql/encoded-cell.ts';
import { SchemalessError } from '../errors.ts';
import type { SqlClient } from '../sql/client.ts';

/** Refuses what could not be written or read again over this way to MySQL, which all groups share. */
export function checkBounds(
  cells: readonly PlacedCell[],
  { abilities }: SqlClient,
  field: (position: number) => string,
): void {
  const { bodyBytes, writtenBytes } = abilities.bounds;
  let bytes = 0;
  for (const [position, { encoded, row_key, column_name, ref_key }] of cells.entries()) {
    bytes += encoded.length;
    if (encoded.length <= bodyBytes) continue;
    throw new SchemalessError(
      'body_too_large',
      `${field(position)}: wanted at most ${bodyBytes} bytes, encoded, got ${encoded.length}`,
      { field: field(position), address: { row_key, column_name, ref_key } },
    );
  }
  const most = Math.min(LIMITS.requestBytes, writtenBytes);
  if (cells.length > 1 && bytes > most)
    throw new SchemalessError('request_too_large', `cells: wanted at most ${most} bytes, encoded, got ${bytes}`, {
      field: 'cells',
    });
}

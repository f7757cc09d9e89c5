import { stringifyJson } from '../../shared/body/json.ts';
import type { Found } from '../../shared/contract/datastore.ts';
import { SchemalessError } from '../../shared/errors.ts';
import { prettyJson } from './output/pretty-json.ts';
import { printableJson } from './output/printable.ts';
import type { Session } from './session.ts';

export async function printFound(
  { output }: Session,
  { cell, served_by, stale, erasure }: Found,
  { what, body }: { readonly what: string; /** Alone. */ readonly body: boolean },
): Promise<void> {
  if (cell === null)
    throw new SchemalessError('cell_not_found', `No cell at ${what}${stale ? ', as far as a reader has seen' : ''}`, {
      more: { stale, served_by },
    });
  if (cell.erased === true)
    throw new SchemalessError(
      'erased',
      `${what} was erased${erasure ? ` at ${erasure.erased_at}: ${erasure.reason} (erasure ${erasure.id})` : ''}`,
    );
  if (!body) return output.record({ ...cell, served_by, stale });
  const text = output.format === 'ndjson' ? stringifyJson(cell.body) : prettyJson(cell.body);
  return output.text(`${printableJson(text)}\n`);
}

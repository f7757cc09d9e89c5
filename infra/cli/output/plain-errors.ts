import { SchemalessError } from '../../../shared/errors.ts';

export function withPlainErrors(item: object): object {
  const error = 'error' in item && item.error instanceof SchemalessError ? { error: plainError(item.error) } : {};
  const cells = 'cells' in item ? { cells: plainCells(item.cells) } : {};
  return 'error' in error || 'cells' in cells ? { ...item, ...error, ...cells } : item;
}

function plainCells(cells: unknown): unknown {
  if (Array.isArray(cells)) return cells.map((cell: object) => withPlainErrors(cell));
  return typeof cells === 'object' && cells !== null ? withPlainErrors(cells) : cells;
}

function plainError({ code, message, retry, details }: SchemalessError): object {
  const { field, wanted, got, address } = details;
  return { code, detail: message, retry, field, wanted, got, address };
}

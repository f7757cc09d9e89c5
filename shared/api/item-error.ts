import type { SchemalessError } from '../errors.ts';
import { ERROR_TEXTS } from '../error-texts.ts';
import type { ItemError } from './cell-shapes.ts';

/** An error as it stands in the place of one item of an answer. */
export function itemError({ code, details, message, retry }: SchemalessError): ItemError {
  return { code, title: ERROR_TEXTS[code].title, detail: message, retry, ...particulars(details) };
}

/** What a problem says besides its code and its text. */
export function particulars({ field, wanted, got, address, more }: SchemalessError['details']): Partial<ItemError> {
  return { field, wanted, got, address, ...more };
}

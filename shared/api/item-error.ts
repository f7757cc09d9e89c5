import type { SchemalessError } from '../errors.ts';
import { ERROR_TEXTS } from '../error-texts.ts';
import type { ItemError } from './cell-shapes.ts';

/** Returns an error as the item of an answer. */
export function itemError({ code, details, message, retry }: SchemalessError): ItemError {
  return { code, title: ERROR_TEXTS[code].title, detail: message, retry, ...particulars(details) };
}

/** Returns the members of a problem other than its code and texts. */
export function particulars({ field, wanted, got, address, more }: SchemalessError['details']): Partial<ItemError> {
  return { field, wanted, got, address, ...more };
}

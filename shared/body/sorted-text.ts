import type { Json } from '../cell.ts';
import { stringifyJson } from './json.ts';

/** Returns JSON text with keys sorted by UTF-16 units: equal values have equal texts. Integers keep 64 bits. */
export function sortedText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => sortedText(item)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return stringifyJson(value);
  const holder = value as { readonly [key: string]: Json };
  const members = Object.keys(holder).toSorted();
  return `{${members.map((key) => `${JSON.stringify(key)}:${sortedText(holder[key] as Json)}`).join(',')}}`;
}

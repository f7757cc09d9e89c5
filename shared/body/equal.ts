import type { Json } from '../cell.ts';

/** Returns whether two JSON values are equal, in any order of keys; a number equals its bigint. */
export function equalJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a === 'bigint' || typeof b === 'bigint')
    return toInteger(a) !== undefined && toInteger(a) === toInteger(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, position) => equalJson(item as Json, b[position] as Json))
    );
  }
  const left = a as { readonly [key: string]: Json };
  const right = b as { readonly [key: string]: Json };
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && equalJson(left[key] as Json, right[key] as Json))
  );
}

function toInteger(value: Json): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : undefined;
}

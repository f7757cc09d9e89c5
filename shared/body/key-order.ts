import type { Json } from '../cell.ts';

/** Returns keys in the order of the text: JavaScript moves those that look like array indexes to the front. */
export function keysOf(value: { readonly [key: string]: Json }): readonly string[] {
  return (value as Ordered)[ORDER] ?? Object.keys(value);
}

/** Returns a copy of an object with another value of an existing member; the order of keys stays. */
export function withMember(
  object: { readonly [key: string]: Json },
  key: string,
  value: Json,
): { readonly [key: string]: Json } {
  const copy = { ...object, [key]: value };
  const order = (object as Ordered)[ORDER];
  if (order) keepOrder(copy, order);
  return copy;
}

/** Returns whether only text can keep this object: its key order, or a key that decoders refuse. */
export function needsText(value: { readonly [key: string]: Json }): boolean {
  return (value as Ordered)[ORDER] !== undefined || Object.hasOwn(value, '__proto__');
}

const ORDER = Symbol('key order');
interface Ordered {
  readonly [key: string]: Json;
  readonly [ORDER]?: readonly string[];
}
/** Set when the engine's own, faster writer meets an object whose keys it writes in another order. */
export const met = { order: false };

export function keepOrder(object: Record<string, Json>, keys: readonly string[]): void {
  if (Object.keys(object).every((key, position) => key === keys[position])) return;
  Object.defineProperty(object, ORDER, { value: keys });
  // The engine reads `toJSON` of each object that it writes.
  let member = object['toJSON'];
  Object.defineProperty(object, 'toJSON', {
    enumerable: Object.hasOwn(object, 'toJSON'),
    get: () => ((met.order = true), member),
    set: (value: Json) => void (member = value),
  });
}

import type { Json } from '../cell.ts';

/**
 * The keys of an object in the order in which they stood in its text. JavaScript moves keys that look like array
 * indexes to the front, so an object with such keys remembers its order in a hidden property.
 */
export function keysOf(value: { readonly [key: string]: Json }): readonly string[] {
  return (value as Ordered)[ORDER] ?? Object.keys(value);
}

/** A copy of an object with another value of a member that it has; keys stay where they stood. */
export function withMember(
  object: { readonly [key: string]: Json },
  key: string,
  value: Json,
): { readonly [key: string]: Json } {
  const copy = { ...object, [key]: value };
  const order = (object as Ordered)[ORDER];
  if (order) Object.defineProperty(copy, ORDER, { value: order });
  return copy;
}

/** Whether only its text can keep this object: its key order, or a key that decoders refuse. */
export function needsText(value: { readonly [key: string]: Json }): boolean {
  return (value as Ordered)[ORDER] !== undefined || Object.hasOwn(value, '__proto__');
}

const ORDER = Symbol('key order');
interface Ordered {
  readonly [key: string]: Json;
  readonly [ORDER]?: readonly string[];
}
/** Set once an object with an order of its own exists in this process. */
let orderKept = false;

/** Whether the engine's own, faster writer may write an object's keys in another order than they stood. */
export function isOrderKept(): boolean {
  return orderKept;
}

export function keepOrder(object: Record<string, Json>, keys: readonly string[]): void {
  if (Object.keys(object).every((key, position) => key === keys[position])) return;
  Object.defineProperty(object, ORDER, { value: keys });
  orderKept = true;
}

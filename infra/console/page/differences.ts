import type { Value } from './exact-json.ts';

export interface Difference {
  /** `fare.total`, `items[3]`; empty for the whole. */
  readonly path: string;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
}

/** Lists the smallest differing parts, in the newer value's order. `more`: there are more than `most`. */
export function differences(
  before: Value,
  after: Value,
  most = 500,
): { readonly found: readonly Difference[]; readonly more: boolean } {
  const found: Difference[] = [];
  let more = false;
  const compare = (one: Value | undefined, other: Value | undefined, path: string): void => {
    if (more || one === other) return;
    if (isHolder(one) && isHolder(other) && Array.isArray(one) === Array.isArray(other)) {
      const isList = Array.isArray(other);
      for (const key of keysOf(one, other)) {
        const name = isList ? `[${key}]` : nameIn(path, key);
        compare(own(one, key), own(other, key), `${path}${name}`);
        if (more) return;
      }
      return;
    }
    if (found.length >= most) more = true;
    else found.push({ path, before: one, after: other });
  };
  compare(before, after, '');
  return { found, more };
}

type Holder = { readonly [key: string]: Value };

function isHolder(value: Value | undefined): value is Holder {
  return typeof value === 'object' && value !== null;
}

function own(holder: Holder, key: string): Value | undefined {
  return Object.hasOwn(holder, key) ? holder[key] : undefined;
}

function keysOf(one: Holder, other: Holder): Iterable<string> {
  return new Set([...Object.keys(other), ...Object.keys(one)]);
}

/** Quotes a key that is not a plain word. */
function nameIn(path: string, key: string): string {
  if (!/^[\w-]+$/u.test(key)) return `[${JSON.stringify(key)}]`;
  return path === '' ? key : `.${key}`;
}

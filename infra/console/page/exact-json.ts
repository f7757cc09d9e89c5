/** A JSON value. Integers that a double cannot represent are BigInts. */
export type Value = null | boolean | number | bigint | string | readonly Value[] | { readonly [key: string]: Value };

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;
type ParseWithSource = (text: string, reviver?: Reviver) => unknown;

/** @param isPlain whether `JSON.parse` reads it exactly, which is several times as fast */
export function parseExactly(text: string, isPlain: boolean): unknown {
  if (isPlain) return JSON.parse(text);
  return (JSON.parse as ParseWithSource)(text, (_key, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/u.test(context?.source ?? '')
      ? BigInt(context?.source ?? '')
      : value,
  );
}

export function prettyJson(value: Value, indent = ''): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const isList = Array.isArray(value);
  const entries = isList
    ? value.map((one: Value) => `${deeper}${prettyJson(one, deeper)}`)
    : Object.entries(value).map(([key, one]) => `${deeper}${JSON.stringify(key)}: ${prettyJson(one, deeper)}`);
  const [open, close] = isList ? '[]' : '{}';
  return entries.length === 0 ? `${open}${close}` : `${open}\n${entries.join(',\n')}\n${indent}${close}`;
}

/** Returns JSON on one line, cut at `most` characters. */
export function shortJson(value: Value, most: number): string {
  const parts: string[] = [];
  let left = most;
  const write = (text: string): boolean => {
    parts.push(text.slice(0, Math.max(0, left)));
    left -= text.length;
    return left > 0;
  };
  const writeValue = (one: Value): boolean => {
    if (typeof one === 'bigint') return write(String(one));
    if (typeof one === 'string') return write(JSON.stringify(one.slice(0, left + 1)));
    if (typeof one !== 'object' || one === null) return write(JSON.stringify(one));
    const isList = Array.isArray(one);
    if (!write(isList ? '[' : '{')) return false;
    let isFirst = true;
    for (const key in one) {
      if (!isFirst && !write(',')) return false;
      isFirst = false;
      if (!isList && !write(`${JSON.stringify(key.slice(0, left + 1))}:`)) return false;
      if (!writeValue((one as Readonly<Record<string, Value>>)[key] as Value)) return false;
    }
    return write(isList ? ']' : '}');
  };
  writeValue(value);
  return left < 0 ? `${parts.join('')}…` : parts.join('');
}

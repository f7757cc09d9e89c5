import { stringifyJson } from '../../../shared/body/json.ts';
import { keysOf } from '../../../shared/body/key-order.ts';
import type { Json } from '../../../shared/cell.ts';

export function prettyJson(value: unknown, indent = ''): string {
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => `${deeper}${prettyJson(item ?? null, deeper)}`).join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return stringifyJson(value);
  const object = value as { readonly [key: string]: Json };
  const members = keysOf(object).filter((key) => object[key] !== undefined);
  if (members.length === 0) return '{}';
  const lines = members.map((key) => `${deeper}${JSON.stringify(key)}: ${prettyJson(object[key], deeper)}`);
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

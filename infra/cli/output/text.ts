import stringWidth from 'string-width';
import { stringifyJson } from '../../../shared/body/json.ts';
import { keysOf } from '../../../shared/body/key-order.ts';
import type { Json } from '../../../shared/cell.ts';

/** Control characters, and those that change the direction of text: a terminal would act on them. */
// oxlint-disable-next-line no-control-regex -- these are what it is about
const ACTING = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns text that a terminal only shows: control characters are escaped as in JSON. */
export function printable(text: string): string {
  return text.replaceAll(ACTING, escaped);
}

/** Returns JSON text of the same value, without control characters. */
export function printableJson(json: string): string {
  // In JSON they can only be in strings, except line breaks between tokens.
  return json.replaceAll(ACTING, (character) => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

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

interface TextTable {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly mark?: (header: string) => string;
  readonly width?: number | undefined;
  /** The least widths of the columns, so that consecutive tables align. @default those of the content */
  readonly widths?: readonly number[];
}

const GAP = '  ';
/** A shorter text would be useless. */
const LEAST_LAST = 12;

export function textTable({ headers, rows, mark = (header) => header, width, widths = [] }: TextTable): string {
  const columns = headers.map((header, position) =>
    [header, ...rows.map((row) => row[position] ?? '')].reduce(
      (widest, text) => Math.max(widest, stringWidth(text)),
      widths[position] ?? 0,
    ),
  );
  const before = columns.slice(0, -1).reduce((sum, column) => sum + column + GAP.length, 0);
  const room = width === undefined ? undefined : Math.max(LEAST_LAST, width - before);
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, position) => (position === headers.length - 1 ? cut(text, room) : pad(text, columns[position] ?? 0)))
      .join(GAP)
      .trimEnd();
  const head = headers.length === 0 ? [] : [mark(line(headers))];
  return [...head, ...rows.map(line)].join('\n');
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

/** Cuts a text, but never within a combined character. */
function cut(text: string, width: number | undefined): string {
  if (width === undefined || stringWidth(text) <= width) return text;
  let [kept, taken] = ['', 0];
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    taken += stringWidth(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

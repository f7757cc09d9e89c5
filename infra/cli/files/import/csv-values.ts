import { UUID } from '../../../../shared/address.ts';
import { parseJson } from '../../../../shared/body/json.ts';
import { decimalOf, readNumber } from '../../../../shared/body/number.ts';
import type { Json } from '../../../../shared/cell.ts';
import { timeReader, type TimeSpelling } from './csv-times.ts';

/** The types of CSV values in a body. `datetime` and `UUID` stay texts, and are checked. */
export const VALUE_TYPES = ['string', 'integer', 'number', 'boolean', 'datetime', 'UUID', 'json'] as const;

/** How a column writes numbers. */
interface NumberSpelling {
  /** @default `.` */
  readonly decimal?: string | undefined;
  /** @default none: `1,000` is no number */
  readonly thousands?: string | undefined;
}

export interface ColumnValue extends NumberSpelling, TimeSpelling {
  readonly column: string;
  readonly type: (typeof VALUE_TYPES)[number];
}

export class CsvValueError extends Error {
  readonly field: string;

  constructor(field: string, wanted: string, got: string) {
    super(`${field}: wanted ${wanted}, got ${JSON.stringify(got.slice(0, 60))}`);
    this.field = field;
  }
}

/** The digits of the longest integer of 64 bits. */
const INTEGER_DIGITS = 20;
const YES: readonly string[] = ['true', 't', 'yes', 'y', '1'];
const NO: readonly string[] = ['false', 'f', 'no', 'n', '0'];

/**
 * Returns a function that reads the values of a column, and throws CsvValueError for others. Throws a RangeError that
 * says what is wrong with a spelling.
 */
export function valueReader(value: ColumnValue): (text: string) => Json {
  const [read, wanted] = readerOf(value);
  return (text) => {
    const json = read(text);
    if (json === undefined) throw new CsvValueError(value.column, wanted, text);
    return json;
  };
}

function readerOf({ type, ...spelling }: ColumnValue): readonly [(text: string) => Json | undefined, wanted: string] {
  switch (type) {
    case 'string':
      return [(text) => text, 'a text'];
    case 'integer':
      return [numberReader(spelling, toInteger), 'an integer of 64 bits'];
    case 'number':
      return [numberReader(spelling, readNumber), 'a number that 64 bits keep'];
    case 'boolean':
      return [toBoolean, 'true, t, yes, y, 1, false, f, no, n or 0'];
    case 'datetime':
      return [timeReader(spelling), wantedTime(spelling)];
    case 'UUID':
      return [(text) => (UUID.test(text) ? text.toLowerCase() : undefined), 'a UUID'];
    case 'json':
      return [toJson, 'JSON'];
    default:
      return type satisfies never;
  }
}

function wantedTime({ zone, format }: TimeSpelling): string {
  const like = format ?? (zone === undefined ? 'in RFC 3339, with its zone' : 'in RFC 3339 or SQL');
  return `a time ${format === undefined ? '' : 'like '}${like}${zone === undefined ? '' : `, which ${zone} has once`}`;
}

function toBoolean(text: string): boolean | undefined {
  const word = text.toLowerCase();
  return YES.includes(word) ? true : NO.includes(word) ? false : undefined;
}

function toJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Returns a function that reads numbers as databases and spreadsheets print them: `.5`, `5.`, `+1`, `007`, `1E5`. */
function numberReader(
  { decimal = '.', thousands }: NumberSpelling,
  read: (literal: string) => number | bigint | undefined,
): (text: string) => number | bigint | undefined {
  const group = thousands === ' ' ? '[ \\u00A0\\u202F]' : `[${thousands}]`;
  const grouped = thousands === undefined ? '' : `\\d{1,3}(?:${group}\\d{3})+|`;
  const pattern = new RegExp(`^([+-]?)(${grouped}\\d*)(?:[${decimal}](\\d*))?([eE][+-]?\\d+)?$`, 'u');
  return (text) => {
    const [, sign = '', whole = '', fraction = '', exponent = ''] = pattern.exec(text) ?? [];
    if (whole === '' && fraction === '') return undefined;
    // JSON allows neither leading zeros nor a bare point.
    const digits = whole.replace(/\D/gu, '').replace(/^0+(?=\d)/u, '') || '0';
    return read(`${sign === '-' ? sign : ''}${digits}${fraction === '' ? '' : `.${fraction}`}${exponent}`);
  };
}

/** Spreadsheets also print integers as `5.0` and `1E+05`. Their doubles may be other integers, so the digits count. */
function toInteger(literal: string): number | bigint | undefined {
  const { digits, power } = decimalOf(literal);
  if (digits === '') return 0;
  if (power < 0 || digits.length + power > INTEGER_DIGITS) return undefined;
  const sign = literal.startsWith('-') ? '-' : '';
  const integer = readNumber(`${sign}${digits}${'0'.repeat(power)}`);
  return typeof integer === 'bigint' || Number.isSafeInteger(integer) ? integer : undefined;
}

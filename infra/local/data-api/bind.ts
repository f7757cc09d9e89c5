import { escape } from 'mysql2';
import { DataApiException } from './exceptions.ts';
import type { Value } from './request.ts';
import type { SqlText } from './sql-text.ts';

/** Writes the values into the statement as literals. Throws a `DataApiException` for a name without a value. */
export function bind({ pieces, names }: SqlText, values: ReadonlyMap<string, Value>): string {
  return names.reduce((text, name, index) => {
    const value = values.get(name);
    if (value === undefined) throw new DataApiException('ValidationException', `Cannot find parameter: ${name}`);
    return `${text}${literal(value)}${pieces[index + 1] ?? ''}`;
  }, pieces[0] ?? '');
}

function literal(value: Value): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return escape(value);
  return Buffer.isBuffer(value) ? `X'${value.toString('hex')}'` : String(value);
}

import { escape } from 'mysql2';
import { DataApiException } from './exceptions.ts';
import type { Parameter, TypeHint } from './field.ts';
import type { SqlText } from './sql-text.ts';

/**
 * The statement with the parameters' values in their places, as literals of the values' types. Parameters that the
 * statement does not name are left out. Throws a `DataApiException` where it names one that is not there.
 */
export function bind({ pieces, names }: SqlText, parameters: readonly Parameter[]): string {
  const byName = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  return names.reduce((text, name, index) => {
    const parameter = byName.get(name);
    if (!parameter) throw new DataApiException('ValidationException', `Cannot find parameter: ${name}`);
    return `${text}${literal(parameter)}${pieces[index + 1] ?? ''}`;
  }, pieces[0] ?? '');
}

function literal({ name, value, typeHint }: Parameter): string {
  switch (value.kind) {
    case 'null':
      return 'NULL';
    case 'boolean':
      return value.value ? 'TRUE' : 'FALSE';
    case 'long':
      return value.value.toString();
    case 'double':
      return String(value.value);
    case 'blob':
      return `X'${value.value.toString('hex')}'`;
    case 'string':
      if (typeHint) checkHint(name, value.value, typeHint);
      return typeHint === 'DECIMAL' ? value.value : escape(value.value);
  }
}

/**
 * The forms that the API documents. More digits than milliseconds pass: whether the real one takes them is not known.
 */
const FORMS: Readonly<Partial<Record<TypeHint, { readonly form: RegExp; readonly wanted: string }>>> = {
  DATE: { form: /^\d{4}-\d{2}-\d{2}$/u, wanted: 'YYYY-MM-DD' },
  TIME: { form: /^\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?$/u, wanted: 'HH:MM:SS[.FFF]' },
  TIMESTAMP: { form: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,9})?$/u, wanted: 'YYYY-MM-DD HH:MM:SS[.FFF]' },
  DECIMAL: { form: /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u, wanted: 'a decimal number' },
  UUID: { form: /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/iu, wanted: 'a UUID' },
};

function checkHint(name: string, value: string, typeHint: TypeHint): void {
  const known = FORMS[typeHint];
  if (known && !known.form.test(value))
    throw new DataApiException(
      'ValidationException',
      `Parameter ${name} with type hint ${typeHint}: wanted ${known.wanted}, got ${JSON.stringify(value).slice(0, 100)}`,
    );
}

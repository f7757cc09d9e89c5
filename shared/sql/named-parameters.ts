import type { SqlParameter as NamedParameter } from '@aws-sdk/client-rds-data';
import type { SqlParameter, Statement } from './client.ts';

/** Quoted text and names, which are left alone, or the place of a value. */
const TOKEN = /'(?:[^'\\]|\\.|'')*'|`[^`]*`|\?/gu;

/** A statement with `?` for its values as the RDS Data API takes it: `:v0`, `:v1`, … */
export function namedParameters({ sql, parameters }: Statement): {
  readonly sql: string;
  readonly parameters: NamedParameter[];
} {
  let count = 0;
  const text = sql.replace(TOKEN, (token) => {
    if (token !== '?') return token;
    count += 1;
    return `:v${count - 1}`;
  });
  if (count !== parameters.length)
    throw new TypeError(`a statement of ${count} values: wanted as many, got ${parameters.length}`);
  return {
    sql: text,
    parameters: parameters.map((value, position) => ({ name: `v${position}`, value: toField(value) })),
  };
}

function toField(value: SqlParameter): NonNullable<NamedParameter['value']> {
  if (value === null) return { isNull: true };
  if (typeof value === 'string') return { stringValue: value };
  if (value instanceof Uint8Array) return { blobValue: value };
  // As a long, whose digits are all kept: the SDK's type says number, and its serializer takes both.
  if (typeof value === 'bigint') return { longValue: value as unknown as number };
  return Number.isSafeInteger(value) ? { longValue: value } : { doubleValue: value };
}

import type { SqlParameter as NamedParameter } from '@aws-sdk/client-rds-data';
import type { SqlParameter, Statement } from './client.ts';

/** Quoted text and names, which stay, or the place of a value. */
const TOKEN = /'(?:[^'\\]|\\.|'')*'|`[^`]*`|\?/gu;

/** Returns a statement with `:v0`, `:v1`, … for its values, as the RDS Data API takes it. */
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
  // As a long, which keeps all digits: the SDK's serializer takes bigint, though its type says number.
  if (typeof value === 'bigint') return { longValue: value as unknown as number };
  return Number.isSafeInteger(value) ? { longValue: value } : { doubleValue: value };
}

import { DataApiException } from './exceptions.ts';

/** Characters of a statement's text, without its values: the service model's own bound. */
const SQL_CHARACTERS = 65_536;
const LONG_MIN = -(2n ** 63n);
/** The largest `longValue`. */
export const LONG_MAX = 2n ** 63n - 1n;

export type Value = null | boolean | bigint | number | string | Buffer;

/** The members that the store sends. Others are refused, since ignoring one would change the call. */
const MEMBERS = new Set(['continueAfterTimeout', 'parameters', 'resourceArn', 'resultSetOptions', 'secretArn', 'sql']);

/** A call of ExecuteStatement that commits by itself. */
export type ExecuteRequest = ReturnType<typeof readExecute>;

/** Throws a `DataApiException` that names the member. */
export function readExecute(body: Buffer) {
  const members = readMembers(body);
  const strange = Object.keys(members).find((name) => !MEMBERS.has(name) && members[name] !== null);
  if (strange !== undefined)
    throw new DataApiException('ValidationException', `${strange}: wanted a request that the store sends, without it`);
  const sql = textOf(members, 'sql');
  if (sql.length > SQL_CHARACTERS)
    throw new DataApiException(
      'ValidationException',
      `1 validation error detected: Value (too long to repeat) at 'sql' failed to satisfy constraint: Member must have length less than or equal to ${SQL_CHARACTERS}`,
    );
  const { longReturnType, decimalReturnType = 'STRING' } = Object(members['resultSetOptions']) as Members;
  if (decimalReturnType !== 'STRING') throw unexpected('decimalReturnType', 'STRING', decimalReturnType);
  const parameters = members['parameters'] ?? [];
  if (!Array.isArray(parameters)) throw unexpected('parameters', 'a list', parameters);
  return {
    resourceArn: textOf(members, 'resourceArn'),
    secretArn: textOf(members, 'secretArn'),
    sql,
    parameters: new Map(parameters.map(readParameter)),
    continueAfterTimeout: members['continueAfterTimeout'] === true,
    /** `longReturnType: STRING`. */
    longAsString: longReturnType === 'STRING',
  };
}

type Members = Readonly<Record<string, unknown>>;

/** The compiler's library has no third argument of a reviver yet. */
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Integers beyond 2^53 become bigints: the store sends all 64 bits of a `longValue`. */
const exactly: Reviver = (_key, value, { source = '' }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/u.test(source) ? BigInt(source) : value;

function readMembers(body: Buffer): Members {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'), exactly as (key: string, value: unknown) => unknown);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : '';
    throw new DataApiException('SerializationException', `The request body is not JSON: ${why}`, { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DataApiException('SerializationException', 'Start of structure or map found where not expected.');
  return value as Members;
}

function textOf(members: Members, member: string): string {
  const value = members[member] ?? undefined;
  if (typeof value === 'string') return value;
  if (value !== undefined) throw unexpected(member, 'a string', value);
  throw new DataApiException(
    'ValidationException',
    `1 validation error detected: Value null at '${member}' failed to satisfy constraint: Member must not be null`,
  );
}

function readParameter(parameter: unknown): readonly [string, Value] {
  const { name, value, ...more } = Object(parameter) as Members;
  const [first, ...others] = Object.entries(Object(value) as Members).filter(([, one]) => one !== null);
  if (typeof name !== 'string' || first === undefined || others.length > 0 || Object.keys(more).length > 0)
    throw unexpected('parameters', 'a name and one value each', parameter);
  return [name, valueOf(name, ...first)];
}

/** Each returns undefined for a value of another kind. */
const READERS: Readonly<Record<string, (value: unknown) => Value | undefined>> = {
  isNull: (value) => (value === true ? null : undefined),
  booleanValue: (value) => (typeof value === 'boolean' ? value : undefined),
  longValue: (value) => (isLong(value) ? BigInt(value) : undefined),
  doubleValue: (value) => (typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined),
  stringValue: (value) => (typeof value === 'string' ? value : undefined),
  blobValue: (value) =>
    typeof value === 'string' && /^[A-Za-z0-9+/]*={0,2}$/u.test(value) ? Buffer.from(value, 'base64') : undefined,
};

function isLong(value: unknown): value is number | bigint {
  return typeof value === 'bigint' ? value >= LONG_MIN && value <= LONG_MAX : Number.isSafeInteger(value);
}

function valueOf(name: string, kind: string, value: unknown): Value {
  const read = Object.hasOwn(READERS, kind) ? READERS[kind]?.(value) : undefined;
  if (read === undefined) throw unexpected(`${kind} of parameter ${name}`, 'a value of that kind', value);
  return read;
}

function unexpected(member: string, wanted: string, got: unknown): DataApiException {
  const shown = typeof got === 'bigint' ? String(got) : (JSON.stringify(got) ?? 'nothing').slice(0, 100);
  return new DataApiException('SerializationException', `${member}: wanted ${wanted}, got ${shown}`);
}

import { DataApiException, invalidMember, unexpected } from './exceptions.ts';
import { TYPE_HINTS, type Parameter, type ParameterValue, type TypeHint } from './field.ts';

const LONG_MIN = -(2n ** 63n);
const LONG_MAX = 2n ** 63n - 1n;

/** The parameters of one set. Throws a `DataApiException` that names the member. */
export function readParameters(value: unknown, member: string): Parameter[] {
  const list = value ?? [];
  if (!Array.isArray(list)) throw unexpected(member, 'a list', list);
  return list.map((item, index) => readParameter(item, `${member}.${index + 1}.member`));
}

function readParameter(item: unknown, member: string): Parameter {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw unexpected(member, 'a structure', item);
  const { name, value, typeHint } = item as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string') throw unexpected(`${member}.name`, 'a string', name);
  const hint = typeHint ?? undefined;
  if (hint !== undefined && !isTypeHint(hint))
    throw invalidMember(
      `${member}.typeHint`,
      `'${String(hint)}'`,
      `Member must satisfy enum value set: [${TYPE_HINTS.join(', ')}]`,
    );
  return { name, value: readValue(value, name), typeHint: hint };
}

function isTypeHint(hint: unknown): hint is TypeHint {
  return (TYPE_HINTS as readonly unknown[]).includes(hint);
}

/** Exactly one member of the union must be there; SDKs leave the others out, or send null. */
function readValue(value: unknown, name: string): ParameterValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw unexpected(`The value of parameter ${name}`, 'a structure', value);
  const given = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  const [first, second] = given;
  if (!first || second)
    throw new DataApiException(
      'ValidationException',
      `The value of parameter ${name}: wanted exactly one member, got ${given.map(([key]) => key).join(', ') || 'none'}`,
    );
  const [kind, one] = first;
  const wanted = (what: string): DataApiException => unexpected(`${kind} of parameter ${name}`, what, one);
  switch (kind) {
    case 'isNull':
      if (one !== true) throw wanted('true');
      return { kind: 'null' };
    case 'booleanValue':
      if (typeof one !== 'boolean') throw wanted('a boolean');
      return { kind: 'boolean', value: one };
    case 'longValue':
      if (typeof one !== 'bigint' && !Number.isSafeInteger(one)) throw wanted('a 64-bit integer');
      return { kind: 'long', value: checkLong(BigInt(one as number | bigint), wanted) };
    case 'doubleValue':
      if (typeof one !== 'number' && typeof one !== 'bigint') throw wanted('a finite number');
      return { kind: 'double', value: Number(one) };
    case 'stringValue':
      if (typeof one !== 'string') throw wanted('a string');
      return { kind: 'string', value: one };
    case 'blobValue':
      if (typeof one !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/u.test(one)) throw wanted('base64');
      return { kind: 'blob', value: Buffer.from(one, 'base64') };
    case 'arrayValue':
      throw new DataApiException('ValidationException', 'Array parameters are not supported.');
    default:
      throw unexpected(`The value of parameter ${name}`, 'a member of Field', kind);
  }
}

function checkLong(value: bigint, wanted: (what: string) => DataApiException): bigint {
  if (value < LONG_MIN || value > LONG_MAX) throw wanted('a 64-bit integer');
  return value;
}

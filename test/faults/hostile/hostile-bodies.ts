import type { ErrorCode } from '../../../shared/errors.ts';

/** A request body, and the answer that it requires as a cell. */
interface HostileBody {
  readonly what: string;
  readonly bytes: Buffer;
  readonly wants?: ErrorCode | 'stored';
}

const MIB = 1024 * 1024;
const nested = (open: string, inner: string, close: string, depth: number): string =>
  open.repeat(depth) + inner + close.repeat(depth);

/** JSON that must be stored verbatim. */
export const KEPT: Readonly<Record<string, string>> = {
  'a null': 'null',
  'minus zero': '-0',
  'an empty string': '""',
  'a fraction of zero': '1.0',
  'an exponent': '12e2',
  '2^53 and beyond': '[9007199254740991,9007199254740992,9007199254740993,-9007199254740993]',
  'the ends of 64 bits': '[-9223372036854775808,9223372036854775807,18446744073709551615]',
  'the ends of a double': '[5e-324,1.7976931348623157e308,2.2250738585072014e-308]',
  'a member __proto__': '{"__proto__":{"isAdmin":true},"a":1}',
  'members of prototypes':
    '{"constructor":{"prototype":{"x":1}},"toString":1,"hasOwnProperty":2,"valueOf":null,"__defineGetter__":3}',
  'nested members __proto__': '[{"a":{"__proto__":null}},{"__proto__":[]}]',
  'a member toJSON': '{"toJSON":"x","then":"y","error":{"code":"internal"},"statusCode":500,"isBase64Encoded":true}',
  'members that look like indexes': '{"2":1,"1":2,"b":3,"10":4,"a":5,"0":6}',
  'an empty name': '{"":{"":""}}',
  'NUL in names and values': '{"\\u0000":"\\u0000","a\\u0000b":1}',
  'names that differ by their normal form': '{"\u00e9":1,"e\u0301":2}',
  'a surrogate pair, escaped and not': '["\\ud83d\\ude00","😀","\\uD83D\\uDE00"]',
  'separators of lines and directions': '"\\u2028\\u2029\u2028\u202e\ufeff\uffff\u{10ffff}"',
  'SQL in a value':
    '{"a":"\'; DROP TABLE entity; -- ","b":"\\\\\'","c":"Duplicate entry \'x\' for key \'entity.cell\'"}',
  'white space everywhere': ' \t\r\n[ 1 , \n{ "a" :\t2 } ]\r\n ',
  'arrays 100 deep': nested('[', '', ']', 100),
  'objects 100 deep': nested('{"a":', '1', '}', 100),
  'a name of 64 KiB': `{"${'k'.repeat(65_536)}":1}`,
  'a string of 1 MiB': `"${'x'.repeat(MIB - 2)}"`,
  'escapes of 1 MiB': `"${'\\u0041'.repeat(174_000)}"`,
  'backslashes of 1 MiB': `"${'\\\\'.repeat(MIB / 2 - 1)}"`,
  'numbers of 1 MiB': `[${'0.5,'.repeat(MIB / 4 - 2)}1]`,
  'empty arrays of 1 MiB': `[${'[],'.repeat(MIB / 3 - 2)}1]`,
  'many members': `{${Array.from({ length: 50_000 }, (_, position) => `"k${position}":${position}`).join(',')}}`,
};

/** Text that is no JSON, or that cannot be stored. */
const REFUSED: Readonly<Record<string, string>> = {
  'a number past a double': '1e999',
  'a negative number past a double': '{"a":-1e999}',
  'an exponent of a million digits': `1e${'9'.repeat(1_000_000)}`,
  'a number of a million digits': '9'.repeat(1_000_000),
  'one more than 64 bits': '18446744073709551616',
  'one less than 64 bits': '-9223372036854775809',
  'digits that no double keeps': '0.1234567890123456789',
  'a leading zero': '01',
  'a plus': '+1',
  'no digit before the point': '.5',
  'no digit after the point': '1.',
  'a hexadecimal number': '0x10',
  'not a number': 'NaN',
  infinity: '[Infinity]',
  'a member twice': '{"a":1,"a":2}',
  'a member twice, once escaped': '{"a":1,"\\u0061":2}',
  '__proto__ twice': '{"__proto__":1,"__proto__":2}',
  'a lone high surrogate': '"\\ud800"',
  'surrogates the wrong way round': '["\\udc00\\ud800"]',
  'a lone surrogate in a name': '{"\\ud800":1}',
  'a comma at the end': '[1,]',
  'a comma alone': '{,}',
  'single quotes': "{'a':1}",
  'a comment': '// none\n1',
  'two values': '1 2',
  'a bracket alone': '[',
  'the wrong bracket': '[1}',
  'an open string': '"abc',
  'a tab in a string': '"\t"',
  'a NUL in a string': '"\0"',
  'a NUL alone': '\0',
  'another escape': '"\\x41"',
  'a short escape': '"\\u12"',
  'half a word': 'nul',
  'white space alone': ' \n\t ',
  'another white space': '\u00a01',
  'a byte order mark': '\ufeff{"a":1}',
  'arrays 101 deep': nested('[', '', ']', 101),
  'objects 101 deep': nested('{"a":', '1', '}', 101),
  'brackets of 1 MiB': '['.repeat(MIB),
  'closed brackets of 1 MiB': nested('[', '', ']', MIB / 2),
  'open objects of 1 MiB': '{"a":'.repeat(MIB / 5),
  'quotes of 1 MiB': '"'.repeat(MIB),
  'an open string of escapes': `"${'\\"'.repeat(MIB / 2 - 8)}`,
};

/** Bytes that are no UTF-8. */
const NO_UTF8: Readonly<Record<string, readonly number[]>> = {
  'an overlong slash': [0x22, 0xc0, 0xaf, 0x22],
  'an overlong NUL': [0x22, 0xe0, 0x80, 0x80, 0x22],
  'a surrogate in UTF-8': [0x22, 0xed, 0xa0, 0x80, 0x22],
  'beyond Unicode': [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22],
  'a byte 255': [0x22, 0xff, 0x22],
  'half a character': [0x22, 0xf0, 0x9f, 0x98],
  'UTF-16': [0xff, 0xfe, 0x31, 0x00],
  'a gzip stream': [0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03],
};

/** Bodies of a size that is refused, whatever is in them. */
export const LARGE_BODIES: readonly HostileBody[] = [
  { what: 'a string over 1 MiB', bytes: Buffer.from(`"${'x'.repeat(MIB - 1)}"`), wants: 'body_too_large' },
  { what: 'an array of 3 MiB', bytes: Buffer.from(`[${'12345678,'.repeat(330_000)}1]`), wants: 'body_too_large' },
  { what: 'white space of 4 MiB', bytes: Buffer.from(`${' '.repeat(4 * MIB)}1`), wants: 'request_too_large' },
  { what: '4 MiB of no UTF-8', bytes: Buffer.alloc(4 * MIB, 0xff), wants: 'invalid_json' },
  { what: 'quotes of 4 MiB', bytes: Buffer.alloc(4 * MIB, '"') },
  { what: 'brackets of 12 MiB', bytes: Buffer.alloc(12 * MIB, '[') },
  { what: 'arrays of 48 MiB', bytes: Buffer.from(`[${'[],'.repeat(16 * MIB)}1]`) },
];

const wanting = (wants: HostileBody['wants'], texts: Readonly<Record<string, string | readonly number[]>>) =>
  Object.entries(texts).map(([what, text]) => ({ what, bytes: Buffer.from(text as string), wants }) as HostileBody);

export const BODIES: readonly HostileBody[] = [
  ...wanting('stored', KEPT),
  ...wanting('invalid_json', REFUSED),
  ...wanting('invalid_json', NO_UTF8),
  { what: 'nothing', bytes: Buffer.alloc(0), wants: 'missing_field' },
];

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withMember } from '../../../shared/body/key-order.ts';
import { parseJson, stringifyJson, writeJson } from '../../../shared/body/json.ts';
import { SchemalessError } from '../../../shared/errors.ts';
import type { Json } from '../../../shared/cell.ts';

function refused(text: string): SchemalessError {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof SchemalessError) return error;
    throw error;
  }
  throw new Error(`wanted ${text} to be refused`);
}

/** A tenth as many members as characters. */
const objectOf = (length: number, key: (at: number) => string): string =>
  `{${Array.from({ length: length / 10 }, (_, at) => `"${key(at)}":1`).join(',')}}`;

describe('parseJson', () => {
  it('reads whatever JSON.parse reads, to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        if (!text.isWellFormed()) return;
        expect(stringifyJson(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['18446744073709551615', '18446744073709551615'],
    ['1.0', '1'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['0.10', '0.1'],
    ['1e2', '100'],
    ['1E-7', '1e-7'],
    ['5e-324', '5e-324'],
    ['1.7976931348623157e308', '1.7976931348623157e+308'],
    ['100000000000000000000', '100000000000000000000'],
    [`1.${'0'.repeat(400)}`, '1'],
    ['0e99999999999999999999', '0'],
    [`0.${'0'.repeat(400)}e${'9'.repeat(400)}`, '0'],
    [`1e${'0'.repeat(400)}2`, '100'],
    [`-1${'0'.repeat(400)}e-400`, '-1'],
    [`0.${'0'.repeat(400)}5e401`, '5'],
    // As C, Java, Oracle and spreadsheets print doubles.
    ['0.65767900000000001', '0.657679'],
    ['1.1000000000000001', '1.1'],
    ['-122.41940000000000', '-122.4194'],
    ['-73.989999999999995', '-73.99'],
    ['3.0000000000000001e-5', '0.00003'],
    ['0.1000000000000000055511151231257827', '0.1'],
    ['9.0000076293945312', '9.000007629394531'],
    ['9.0000076293945313', '9.000007629394531'],
    ['7.120236347223045e-307', '7.120236347223045e-307'],
    ['4.9e-324', '5e-324'],
    ['1.50', '1.5'],
    ['1.8446744073709551616e19', '18446744073709552000'],
    [`${5n ** 142n}e-142`, '1.793662034335766e-43'],
  ])('keeps the number %.30s', (text, kept) => {
    expect(stringifyJson(parseJson(text))).toBe(kept);
  });

  it.each([
    '18446744073709551616',
    '-9223372036854775809',
    '1e400',
    '-1e309',
    '0.10000000000000000001',
    '1e-400',
    '3.14159265358979323846',
    '0.1234567890123456789',
    '0.65767900000000002',
    '9007199254740993.0',
    '3e-324',
    '9.0000076293945314',
    `${5n ** 144n}e-144`,
    '9'.repeat(100_000),
  ])('refuses the number %.30s, which would change', (text) => {
    expect(refused(text)).toMatchObject({ code: 'invalid_json', wanted: expect.stringContaining('64 bits') });
  });

  it.each([
    ['an exponent', (length: number) => `1e-${'9'.repeat(length)}`],
    ['an exponent of zeros', (length: number) => `1e${'0'.repeat(length)}2`],
    ['zeros in a fraction', (length: number) => `1.${'0'.repeat(length)}1`],
    ['zeros and an exponent', (length: number) => `1${'0'.repeat(length)}1e5`],
    ['leading zeros of a fraction', (length: number) => `0.${'0'.repeat(length)}1`],
    ['runs of zeros', (length: number) => `1.${'0001'.repeat(length / 4)}`],
    ['digits', (length: number) => '7'.repeat(length)],
    ['brackets', (length: number) => '['.repeat(length)],
    ['braces', (length: number) => '{"a":'.repeat(length / 5)],
    ['escapes', (length: number) => `"${'\\"'.repeat(length / 2)}"`],
    ['strings with escapes', (length: number) => `[${'"\\n",'.repeat(length / 5)}1]`],
    ['index-like keys backwards', (length: number) => objectOf(length, (at) => `${length - at}`)],
    ['keys alike', (length: number) => objectOf(length, (at) => `a${at}`)],
    ['lines', (length: number) => '\n'.repeat(length)],
    ['surrogates', (length: number) => `["${'\\ud83d\\ude95'.repeat(length / 12)}"]`],
  ])('costs no more than its length where a text of 1 MB is nothing but %s', (_what, textOf) => {
    // A cost that grows with the square of the length is minutes, which the limit of the test ends.
    let error: unknown;
    try {
      parseJson(textOf(1_000_000));
    } catch (thrown) {
      error = thrown;
    }
    expect(error === undefined || error instanceof SchemalessError).toBe(true);
  });

  it.each([
    ['{"a":1,"a":1}', 'the key "a" again'],
    ['[{"b":{"x":1,"y":2,"x":3}}]', 'the key "x" again'],
    ['{"\\u0061":1,"a":2}', 'the key "a" again'],
    ['"\\ud800"', 'a lone surrogate'],
    ['{"\\udfff":1}', 'a lone surrogate'],
    ['"\ud800"', 'a lone surrogate'],
    ['\ufeff1', '"\ufeff1"'],
    ['', 'the end of the text'],
    ['[1,]', '"]"'],
    ['{"a":1,}', '"}"'],
    ['[1 2]', '"2]"'],
    ['{a:1}', '"a:1}"'],
    ["'a'", `"'a'"`],
    ['01', '"1"'],
    ['+1', '"+1"'],
    ['.5', '".5"'],
    ['1.', '"."'],
    ['NaN', '"NaN"'],
    ['tru', '"tru"'],
    ['"a\nb"', '"\\"a\\nb\\""'],
    ['"a', 'the end of the text'],
    ['{"a":1}x', '"x"'],
    ['// no', '"// no"'],
  ])('refuses %s, saying what came', (text, got) => {
    expect(refused(text)).toMatchObject({ code: 'invalid_json', field: 'body', got });
  });

  it('names the line and the column', () => {
    expect(refused('{\n  "a": 1,\n  "b": nope\n}').message).toContain('(line 3, column 8)');
  });

  it('takes a depth of 100 and refuses 101, and a million at once', () => {
    expect(parseJson(`${'['.repeat(100)}${']'.repeat(100)}`)).toBeDefined();
    expect(refused(`${'['.repeat(101)}${']'.repeat(101)}`).details.wanted).toContain('100 deep');
    expect(refused('['.repeat(1_000_000)).details.wanted).toContain('100 deep');
  });

  it('takes __proto__ for a plain key and pollutes nothing', () => {
    const value = parseJson('{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}') as {
      readonly [key: string]: Json;
    };
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(stringifyJson(value)).toBe('{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe('keys in another order than JavaScript has', () => {
  const BODY = '{"1":0,"0":0}';

  it.each([
    BODY,
    '{"10":1,"9":{"2":0,"1":0}}',
    '{"x":1,"0":2}',
    '{"toJSON":"a","1":0,"0":0}',
    '{"1":{"toJSON":{"1":0,"0":0}},"0":0}',
    '[{"1":0,"0":0},18446744073709551615]',
    '{"b":18446744073709551615,"a":{"1":0,"0":0}}',
    '{"__proto__":1,"1":0,"0":0}',
  ])('are written as they stood, and said not to be plain: %s', (text) => {
    expect(writeJson({ cells: [{ body: parseJson(text) }] })).toEqual({
      text: `{"cells":[{"body":${text}}]}`,
      isPlain: false,
    });
  });

  it('stay so in a copy with another value', () => {
    const object = parseJson(BODY) as { readonly [key: string]: Json };
    expect(writeJson(withMember(object, '0', 2))).toEqual({ text: '{"1":0,"0":2}', isPlain: false });
  });

  it('slow no answer but those that hold them', () => {
    writeJson(parseJson(BODY));
    expect(writeJson({ cells: [{ body: parseJson('{"a":1,"b":[2]}') }] }).isPlain).toBe(true);
  });

  it('are values like any other', () => {
    const body = parseJson('{"toJSON":"a","1":0,"0":0}');
    expect(JSON.stringify(body)).toBe('{"0":0,"1":0,"toJSON":"a"}');
    expect([Object.keys(parseJson(BODY) as object), { ...Object(body) }]).toEqual([
      ['0', '1'],
      { 0: 0, 1: 0, toJSON: 'a' },
    ]);
  });
});

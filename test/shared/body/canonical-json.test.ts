import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, readCanonicalJson } from '../../../shared/body/json.ts';

const DEPTH = 8;

/** Parses character by character: leading white space disables the fast path. */
function careful(text: string): unknown {
  try {
    return parseJson(` ${text}`, { maxDepth: DEPTH });
  } catch {
    return undefined;
  }
}

describe('JSON text that is read at once', () => {
  it.each([
    '{"a":[1,"b",null,{"c":true}],"d":"\\"\\\\\\n"}',
    '[0.1,1e+21,-1,123456789012345,1e-7]',
    '"€"',
    '"\\"[[[[[[[[["',
    '{"1":"a","b":{}}',
    '{"__proto__":1}',
    '[[[[[[[["]]]]"]]]]]]]]',
  ])('is %s', (text) => {
    expect(readCanonicalJson(text, DEPTH)).toEqual(careful(text));
    expect(readCanonicalJson(text, DEPTH)).toBeDefined();
  });

  const NOT_AT_ONCE = [
    ['{"a":1,"a":1}', '{"b":1,"1":2}', '1.0', '1e2', '-0', '1e400', '9007199254740994', '["\\"",9007199254740994]'],
    ['[12345678901234567890]', '"\\ud800"', '{"\\udfff":1}', '"\ud800"', '"\\u0061"', '"\\/"', ' 1', '[1, 2]', '', '{'],
    ['"', '"\\', '[1]]', 'tru', '[[[[[[[[[1]]]]]]]]]', '["]]]]]]]]]",[[[[[[[[]]]]]]]]]'],
  ].flat();
  it.each(NOT_AT_ONCE)('is not %s', (text) => {
    expect(readCanonicalJson(text, DEPTH)).toBeUndefined();
  });

  it('comes to the same as reading it character by character, whatever the text', () => {
    const number = fc.oneof(fc.double(), fc.integer(), fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n })).map(String);
    const written = fc.jsonValue({ maxDepth: 5, noUnicodeString: false }).map((value) => JSON.stringify(value));
    const patched = fc
      .tuple(
        written,
        fc.nat(),
        fc.nat(3),
        fc.constantFrom('', '"', '\\', '[', ']', '{"a":', '}', '0', '1234567', ',', 'e', '.', '\\ud83d', ' '),
      )
      .map(([text, position, taken, put]) => {
        const at = position % (text.length + 1);
        return `${text.slice(0, at)}${put}${text.slice(at + taken)}`;
      });
    fc.assert(
      fc.property(fc.oneof(number, written, patched), (text) => {
        const value = readCanonicalJson(text, DEPTH);
        expect(value === undefined ? undefined : careful(text)).toStrictEqual(value);
      }),
      { numRuns: 10_000 },
    );
  });
});

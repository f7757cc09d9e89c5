import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { decodeBody, encodeBody, FORMAT, unpackSized } from '../../../shared/body/codec.ts';
import { parseJson, stringifyJson } from '../../../shared/body/json.ts';
import { PackedBody, unpacked } from '../../../shared/body/packed-body.ts';
import { packedMember, withPackedMembers, writeMessagePack } from '../../../shared/body/write-message-pack.ts';
import { isWellFormed, readMessagePack } from '../../../shared/body/read-message-pack.ts';
import type { Json } from '../../../shared/cell.ts';

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(null, true, false, 0, -1, -32, -33, 127, 128, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1),
    fc.constantFrom<Json>(1.5, 1e21, '', 'x'.repeat(31), 'x'.repeat(32), 'ü'.repeat(200), 'x'.repeat(70_000)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('1', '0', 'toString', 'n'.repeat(40))), tie('value')),
  ),
})).value;

describe('MessagePack', () => {
  it('says what JSON says, whether bodies are packed already or not', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = stringifyJson(value);
        const body = parseJson(text);
        const { body: stored } = unpackSized(encodeBody(body));
        const [plain, spliced] = [writeMessagePack({ body, last: 1 }), writeMessagePack({ body: stored, last: 1 })];
        if (plain === undefined || spliced === undefined) {
          // One of its keys is `__proto__`, or they do not stand as JavaScript has them.
          expect(text.includes('__proto__') || JSON.stringify(JSON.parse(text)) !== text).toBe(true);
          expect(plain).toBe(spliced);
          return;
        }
        expect(stringifyJson(readMessagePack(plain))).toBe(`{"body":${text},"last":1}`);
        expect(readMessagePack(plain)).toEqual({ body, last: 1 });
        expect(readMessagePack(spliced)).toEqual({ body, last: 1 });
        expect(stringifyJson({ body: stored })).toBe(`{"body":${text}}`);
      }),
      { numRuns: 1000 },
    );
  });

  it('has members read and replaced within its bytes, as in the value itself', () => {
    fc.assert(
      fc.property(json, json, json, json, (first, inner, last, other) => {
        const body = parseJson(stringifyJson({ first, '€': { inner }, last, long: 'x'.repeat(200) }));
        const { body: stored } = unpackSized(encodeBody(body));
        const [at, within] = [['last'], ['€', 'inner']];
        if (!(stored instanceof PackedBody)) return;
        const members = [packedMember(stored, at), packedMember(stored, within)].filter((one) => one !== undefined);
        expect(stringifyJson(members.map(({ value }) => value))).toBe(stringifyJson([last, inner]));
        for (const steps of [['none'], ['long', 'x'], ['last', 'no member of that name']])
          expect(packedMember(stored, steps)).toBeUndefined();
        const replaced = withPackedMembers(
          stored,
          members.map((member) => ({ ...member, value: other })),
        );
        const wanted = stringifyJson({ first, '€': { inner: other }, last: other, long: 'x'.repeat(200) });
        if (replaced) expect(stringifyJson({ body: replaced })).toBe(`{"body":${wanted}}`);
        else expect(writeMessagePack(other)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it('has numbers for integers of 64 bits that a double keeps, as JSON has', () => {
    const { body } = unpackSized(encodeBody({ few: 5n, most: 2n ** 53n - 1n, more: 2n ** 53n, long: 'x'.repeat(200) }));
    expect(body).toBeInstanceOf(PackedBody);
    expect(unpacked(body)).toMatchObject({ few: 5, most: 2 ** 53 - 1, more: 2n ** 53n });
  });

  it('leaves out what is undefined, and has null for what is no number, as JSON does', () => {
    const value = { a: undefined, b: [undefined, Number.NaN, -0], c: null };
    expect(readMessagePack(writeMessagePack(value) ?? Buffer.of())).toEqual(JSON.parse(JSON.stringify(value)));
  });

  it.each(['{"__proto__":1}', '[{"a":{"__proto__":1}}]', '{"2":1,"1":2}'])('does not write %s', (text) => {
    expect(writeMessagePack({ body: parseJson(text) })).toBeUndefined();
    expect(writeMessagePack({ body: unpackSized(encodeBody(parseJson(text))).body })).toBeUndefined();
  });

  it('is spliced from what is stored compressed, and from nothing else', () => {
    const long = 'long enough to be compressed '.repeat(9);
    const bodyOf = (body: Json, format: number): unknown => {
      const stored = encodeBody(body);
      expect(stored[0]).toBe(format);
      expect(unpacked(unpackSized(stored).body)).toEqual(decodeBody(stored));
      return unpackSized(stored).body;
    };
    expect(bodyOf({ long }, FORMAT.messagePackZlib)).toBeInstanceOf(PackedBody);
    expect(bodyOf({ a: 1 }, FORMAT.messagePack)).toEqual({ a: 1 });
    expect(bodyOf(parseJson(`{"__proto__":"${long}"}`), FORMAT.textZlib)).not.toBeInstanceOf(PackedBody);
  });

  it.each([
    ['nothing', ''],
    ['bytes behind the value', '0101'],
    ['a text that ends early', 'a561'],
    ['a list of four thousand million', 'ddffffffff'],
    ['a map of four thousand million', 'dfffffffff'],
    ['a map of text and nothing', '81a161'],
    ['a number as a name', '810101'],
    ['binary', 'c40101'],
    ['an extension', 'd40101'],
    ['a float of 32 bits', 'ca3fc00000'],
    ['a type that there is not', 'c1'],
    ['the key __proto__', '81a95f5f70726f746f5f5f01'],
    ['no number', 'cb7ff8000000000000'],
    ['deeper nesting than of any body', '91'.repeat(5000) + '01'],
  ])('is not handed on unread where it is %s', (_, hex) => {
    expect(isWellFormed(Buffer.from(hex, 'hex'))).toBe(false);
  });

  it('is read without loss wherever it passes, and refused with an error otherwise, whatever bytes come', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        if (isWellFormed(bytes)) return void stringifyJson(readMessagePack(bytes));
        try {
          readMessagePack(bytes);
        } catch (error) {
          expect(error).not.toBeInstanceOf(RangeError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

it('names of one body keep the reader from no names of others', () => {
  const packed = (value: Json): Uint8Array => writeMessagePack(value) ?? Uint8Array.of();
  const body = packed({ status: 1, driver: 2, fare: 3 });
  const rival = packed({ sxxtxs: 1, dxxxer: 2 });
  const junk = packed(Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`${at}`.padStart(9, 'x'), at])));
  for (const one of [rival, junk, body, body]) readMessagePack(one);
  const decoding = vi.spyOn(Buffer.prototype, 'toString');
  expect(readMessagePack(body)).toEqual({ status: 1, driver: 2, fare: 3 });
  expect(decoding).not.toHaveBeenCalled();
  decoding.mockRestore();
});

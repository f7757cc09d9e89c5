import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBody, decodeSized, encodeBody, FORMAT, JSON_GROWTH } from '../../../shared/body/codec.ts';
import { equalJson } from '../../../shared/body/equal.ts';
import { parseJson, stringifyJson } from '../../../shared/body/json.ts';
import { jsonBytes } from '../../../shared/body/measure.ts';
import { LIMITS, type Json } from '../../../shared/cell.ts';

/** JSON text of any value, with 64-bit integers and awkward keys. */
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(null, true, false, 0, -1, 1.5, 1e21, ''),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', '0', 'toString')), tie('value')),
  ),
})).value;

describe('the body codec', () => {
  it('gives back every value, equal and with its keys in order', () => {
    fc.assert(
      fc.property(json, (value) => {
        const body = parseJson(stringifyJson(value), { maxDepth: LIMITS.bodyDepth });
        const decoded = decodeBody(encodeBody(body));
        expect(equalJson(decoded, body)).toBe(true);
        expect(stringifyJson(decoded)).toBe(stringifyJson(body));
        expect(jsonBytes(decoded)).toBe(Buffer.byteLength(stringifyJson(body)));
        // Responses compute their remaining room from this bound.
        expect(jsonBytes(decoded)).toBeLessThanOrEqual((decodeSized(encodeBody(body)).plainBytes + 4) * JSON_GROWTH);
      }),
      { numRuns: 1000 },
    );
  });

  it('takes a body of up to a mebibyte of JSON, counting each of its characters', () => {
    const numbers = (count: number): number[] => Array.from({ length: count }, () => 1);
    const most = (LIMITS.bodyBytes - 2) / 2;
    expect(decodeBody(encodeBody(numbers(most)))).toHaveLength(most);
    expect(() => encodeBody(numbers(most + 1))).toThrow(
      `body: wanted at most ${LIMITS.bodyBytes} bytes of JSON, got ${LIMITS.bodyBytes + 1}`,
    );
  });

  it('stores MessagePack with zlib, or without where that is smaller', () => {
    expect(encodeBody({ text: 'abc'.repeat(100) })[0]).toBe(FORMAT.messagePackZlib);
    expect(encodeBody({ a: 1 })[0]).toBe(FORMAT.messagePack);
    expect(encodeBody(parseJson('{"__proto__":1}'))[0]).toBe(FORMAT.text);
    expect(encodeBody(parseJson(`{"2":${JSON.stringify('abc'.repeat(100))},"1":1}`))[0]).toBe(FORMAT.textZlib);
  });

  it('reads the bytes that were written when the format was made', () => {
    expect(decodeBody(Buffer.from('01789c6b5c92965894ca08000d0902c5', 'hex'))).toEqual({ fare: 1 });
    expect(decodeBody(Buffer.from('0281a46661726501', 'hex'))).toEqual({ fare: 1 });
    expect(decodeBody(Buffer.from('03789cab564a54b232ac0500082a0209', 'hex'))).toEqual({ a: 1 });
    expect(decodeBody(Buffer.from('047b2261223a317d', 'hex'))).toEqual({ a: 1 });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['an unknown format', Buffer.from([9, 1, 2])],
    ['damaged zlib', Buffer.concat([Buffer.from([1]), Buffer.from('garbage')])],
    [
      'bytes behind the zlib stream',
      Buffer.concat([Buffer.from([1]), deflateSync(Buffer.from([1])), Buffer.from([0])]),
    ],
    ['bytes behind the MessagePack value', Buffer.from([2, 1, 1])],
    ['a truncated MessagePack value', Buffer.from([2, 0x92, 1])],
    ['an array that claims 4 billion items', Buffer.from([2, 0xdd, 0xff, 0xff, 0xff, 0xff])],
    ['text that is no UTF-8', Buffer.from([4, 0xff])],
    ['a MessagePack number that is none', Buffer.from([2, 0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0])],
    ['MessagePack bytes, which JSON has not', Buffer.from([2, 0xc4, 1, 0])],
  ])('refuses %s', (_what, stored) => {
    expect(() => decodeBody(stored)).toThrow(Error);
  });

  it('does not inflate a bomb', () => {
    const bomb = Buffer.concat([Buffer.from([FORMAT.messagePackZlib]), deflateSync(Buffer.alloc(64 * 1024 * 1024))]);
    expect(bomb.length).toBeLessThan(100_000);
    expect(() => decodeBody(bomb)).toThrow(/larger|length/i);
  });

  it.each<[string, unknown, string]>([
    ['undefined', undefined, 'body'],
    ['a function', () => 1, 'body'],
    ['NaN', { a: [1, Number.NaN] }, 'body[1]'],
    ['infinity', Number.POSITIVE_INFINITY, 'body'],
    ['a date', new Date(), 'body'],
    ['a map', { a: new Map() }, 'body'],
    ['bytes', Buffer.from('x'), 'body'],
    ['a lone surrogate', ['\ud800'], 'body[0]'],
    ['a lone surrogate in a key', { '\udc00': 1 }, 'body'],
    ['an integer beyond 64 bits', 2n ** 64n, 'body'],
    ['a hole', Object.assign(Array.from({ length: 3 }), { 0: 1, 2: 2 }), 'body[1]'],
  ])('refuses %s from a program', (_what, value, field) => {
    expect(() => encodeBody(value as Json)).toThrow(expect.objectContaining({ code: 'invalid_field', field }));
  });
});

describe('equalJson', () => {
  it('ignores the order of keys and the kind of number, nothing else', () => {
    expect(equalJson({ a: 1, b: [2n] }, { b: [2], a: 1 })).toBe(true);
    // Each differs from all others.
    const others: readonly Json[] = [
      1,
      '1',
      null,
      0,
      [],
      {},
      { a: 1 },
      { a: 1, b: null },
      { a: null },
      { b: null },
      1.5,
    ];
    for (const [at, one] of [...others, [1, 2], [2, 1]].entries())
      for (const [place, other] of [...others, [1, 2], [2, 1]].entries())
        expect(equalJson(one, other)).toBe(at === place);
  });
});

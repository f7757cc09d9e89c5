import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalJson } from '../../../shared/body/equal.ts';
import { parseJson, stringifyJson, sortedText } from '../../../shared/body/json.ts';
import type { Json } from '../../../shared/cell.ts';
import { open, readToken, seal, subjectKeys, type Place } from '../../../shared/sealed/sealing.ts';

const KEYS = subjectKeys('ab'.repeat(16), randomBytes(32));
const ROW = randomUUID();
const PLACE: Place = { datastore: 'trips', row_key: ROW, column_name: 'BASE', ref_key: 3, path: 'rider.phone' };

/** As bodies come: read from their text. */
const json = fc.oneof(
  fc.jsonValue({ noUnicodeString: false }).map((value) => parseJson(JSON.stringify(value))),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }).map((value) => parseJson(String(value))),
);

function openedAt(token: string, place: Place, keys = KEYS): Json | undefined {
  const read = readToken(token);
  return read && open(keys, place, read);
}

describe('a sealed value', () => {
  it('opens to what it was, whatever JSON that is, integers of 64 bits included, with its keys sorted', () => {
    fc.assert(
      fc.property(json, (value) => {
        const opened = openedAt(seal(KEYS, PLACE, value), PLACE);
        expect(opened !== undefined && equalJson(opened, value)).toBe(true);
        expect(stringifyJson(opened)).toBe(sortedText(value));
      }),
    );
    for (const [text = '', sorted = text] of [
      ['18446744073709551615'],
      ['-9223372036854775808'],
      ['{"b":1,"2":0,"1":{"__proto__":null}}', '{"1":{"__proto__":null},"2":0,"b":1}'],
    ])
      expect(stringifyJson(openedAt(seal(KEYS, PLACE, parseJson(text)), PLACE))).toBe(sorted);
  });

  it('is the same bytes however often it is sealed, and other bytes of any other value, place or key', () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        expect(seal(KEYS, PLACE, one)).toBe(seal(KEYS, PLACE, one));
        if (!equalJson(one, other)) expect(seal(KEYS, PLACE, one)).not.toBe(seal(KEYS, PLACE, other));
      }),
    );
    const tokens = [
      seal(KEYS, PLACE, 'Ann'),
      seal(KEYS, { ...PLACE, ref_key: 4 }, 'Ann'),
      seal(KEYS, { ...PLACE, path: 'rider.name' }, 'Ann'),
      seal(subjectKeys(KEYS.name, randomBytes(32)), PLACE, 'Ann'),
    ];
    // The nonces, too: one nonce for two texts would reveal both.
    const nonces = tokens.map((token) => readToken(token)?.bytes.toString('hex', 16, 28));
    expect(new Set(nonces).size).toBe(tokens.length);
  });

  it('is the same bytes in any order of keys, however deep', () => {
    const [one, turned] = [
      '{"a":[{"b":1,"c":{"10":1,"9":2}}],"d":null}',
      '{"d":null,"a":[{"c":{"9":2,"10":1},"b":1}]}',
    ];
    expect(seal(KEYS, PLACE, parseJson(turned))).toBe(seal(KEYS, PLACE, parseJson(one)));
    expect(seal(KEYS, PLACE, [1, 2])).not.toBe(seal(KEYS, PLACE, [2, 1]));
  });

  it('does not open where it was moved to', () => {
    const token = seal(KEYS, PLACE, 'Ann');
    const other: Place = { datastore: 'shop', row_key: randomUUID(), column_name: 'NOTES', ref_key: 4, path: 'x' };
    for (const [member, value] of Object.entries(other))
      expect(openedAt(token, { ...PLACE, [member]: value }), member).toBeUndefined();
    expect(openedAt(token, PLACE, subjectKeys('cd'.repeat(16), randomBytes(32)))).toBeUndefined();
    expect(openedAt(token, PLACE)).toBe('Ann');
  });

  it('does not open once any bit, or any character, of it is another', () => {
    const token = seal(KEYS, PLACE, { name: 'Ann', phone: '+351 21' });
    const bytes = readToken(token)?.bytes ?? Buffer.alloc(0);
    for (let at = 0; at < bytes.length * 8; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7));
      expect(openedAt(`1.${changed.toString('base64url')}`, PLACE), `bit ${at}`).toBeUndefined();
    }
    for (let at = 0; at < token.length; at += 1)
      for (const other of ['A', 'b', '_', '=', ' ', '+'])
        if (token[at] !== other)
          expect(openedAt(token.slice(0, at) + other + token.slice(at + 1), PLACE), `character ${at}`).toBeUndefined();
    for (let length = 0; length < token.length; length += 1)
      expect(openedAt(token.slice(0, length), PLACE)).toBeUndefined();
    expect(openedAt(`${token}A`, PLACE)).toBeUndefined();
  });

  it('is no token where it is something else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), json), (value) => {
        expect(readToken(value)).toBeUndefined();
      }),
    );
  });
});

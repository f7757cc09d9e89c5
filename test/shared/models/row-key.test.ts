import { expect, it } from 'vitest';
import { MODEL_NAMESPACE, rowKeyOfTuple } from '../../../shared/models/row-key.ts';
import { uuidV5 } from '../../../shared/uuid-v5.ts';

const FIELDS = { hotel_id: 'integer', room_type: 'string', check_in_date: 'string' } as const;
const RATE = { hotel_id: 1, room_type: '1 bed', check_in_date: '2017-01-03' };

it('a UUIDv5 is that of RFC 9562', () => {
  expect(uuidV5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
    '2ed6657d-e927-568b-95e1-2665a8aea6a2',
  );
});

it('a row key is that of the documented text', () => {
  const text = '["rate",["check_in_date","2017-01-03"],["hotel_id",1],["room_type","1 bed"]]';
  expect(rowKeyOfTuple('rate', FIELDS, RATE)).toBe(uuidV5(MODEL_NAMESPACE, text));
});

it('one tuple has one row key, however it is written', () => {
  const types = { at: 'datetime', who: 'UUID', count: 'integer', share: 'number', done: 'boolean' } as const;
  const tuple = {
    at: '2026-01-31T09:00:00+01:00',
    who: '6E3A0F9C-4D2B-4A86-9A41-0C7CE1B6A2F0',
    count: 7,
    share: 0.5,
    done: false,
  };
  const same = { ...tuple, at: '2026-01-31T08:00:00.000000Z', who: tuple.who.toLowerCase(), count: 7n };
  const { at, ...others } = types;
  expect(rowKeyOfTuple('m', types, tuple)).toBe(rowKeyOfTuple('m', { ...others, at }, same));
});

it.each([
  ['another model', 'offer', RATE],
  ['another value', 'rate', { ...RATE, hotel_id: 2 }],
  ['values that only look alike together', 'rate', { ...RATE, room_type: '1 bed","x' }],
])('%s has another row key', (_what, model, tuple) => {
  expect(rowKeyOfTuple(model, FIELDS, tuple)).not.toBe(rowKeyOfTuple('rate', FIELDS, RATE));
});

it.each([
  ['nothing', undefined, 'missing_field'],
  ['null', null, 'missing_field'],
  ['another type', '1', 'invalid_field'],
  ['no finite number', Number.NaN, 'invalid_field'],
  ['more than 64 bits', 2n ** 63n, 'invalid_field'],
])('%s in a field is refused', (_what, hotel_id, code) => {
  expect(() => rowKeyOfTuple('rate', FIELDS, { ...RATE, hotel_id })).toThrow(
    expect.objectContaining({ code, field: 'hotel_id' }),
  );
});

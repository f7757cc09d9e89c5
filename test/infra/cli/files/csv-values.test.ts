import { expect, test } from 'vitest';
import { cellReader } from '../../../../infra/cli/files/import/csv-cells.ts';
import { valueReader, type ColumnValue } from '../../../../infra/cli/files/import/csv-values.ts';
import type { Json } from '../../../../shared/cell.ts';
import { uuidV5 } from '../../../../shared/uuid-v5.ts';

/** Returns the value of a text, or `refused`. */
function valueOf(text: string, value: Omit<ColumnValue, 'column'>): Json {
  const read = valueReader({ column: 'x', ...value });
  try {
    return read(text);
  } catch (error) {
    expect(error).toMatchObject({ field: 'x', message: expect.stringContaining(`got ${JSON.stringify(text)}`) });
    return 'refused';
  }
}

const GERMAN = { decimal: ',', thousands: '.' };
const FRENCH = { decimal: ',', thousands: ' ' };

type Value = readonly [type: ColumnValue['type'], text: string, wanted: Json, spelling?: Partial<ColumnValue>];
const NUMBERS: readonly Value[] = [
  ['number', '.5', 0.5],
  ['number', '-.5E-2', -0.005],
  ['number', '5.', 5],
  ['number', '+1', 1],
  ['number', '1E5', 100_000],
  ['number', '1.5e+02', 150],
  ['number', '007', 7],
  ['number', '-00.50', -0.5],
  ['number', '18446744073709551615', 18446744073709551615n],
  ['number', '1,5', 'refused'],
  ['number', '1,000', 'refused'],
  ['number', '1 000', 'refused'],
  ['number', '.', 'refused'],
  ['number', 'E5', 'refused'],
  ['number', 'NaN', 'refused'],
  ['number', 'Infinity', 'refused'],
  ['number', '-inf', 'refused'],
  ['number', '1e400', 'refused'],
  ['number', '0x10', 'refused'],
  ['number', '--1', 'refused'],
  ['number', '12%', 'refused'],
  ['number', '0.12345678901234567890123', 'refused'],
  ['number', '1,5', 1.5, { decimal: ',' }],
  ['number', '1.5', 'refused', { decimal: ',' }],
  ['number', '-1.234.567,89', -1234567.89, GERMAN],
  ['number', '1234567,89', 1234567.89, GERMAN],
  ['number', '1.23', 'refused', GERMAN],
  ['number', '1.2345,0', 'refused', GERMAN],
  ['number', '1234.567', 'refused', GERMAN],
  ['number', '1 234\u00A0567\u202F890,5', 1234567890.5, FRENCH],
  ['number', '1,234.5', 1234.5, { thousands: ',' }],
  ['integer', '1,234', 1234, { thousands: ',' }],
  ['integer', '5.0', 5],
  ['integer', '1E+03', 1000],
  ['integer', '1E18', 10n ** 18n],
  ['integer', '1E20', 'refused'],
  ['integer', '-9223372036854775809', 'refused'],
  ['integer', '5.5', 'refused'],
  // Doubles nearby are other integers.
  ['integer', '1.2345678901234568E+18', 1234567890123456800n],
  ['integer', '1234567890123456800.0', 1234567890123456800n],
  ['integer', '-9.2233720368547758E18', -9223372036854775800n],
  ['integer', '1.8446744073709551615e19', 2n ** 64n - 1n],
  ['integer', '18446744073709551616.0', 'refused'],
  ['integer', '9007199254740993.0', 9007199254740993n],
  ['integer', '-0e99999999999', 0],
  ['integer', '1e-99999999999', 'refused'],
];

const OSLO = { zone: 'Europe/Oslo' };

const TIMES: readonly Value[] = [
  ['datetime', '2026-01-31T08:00:00Z', '2026-01-31T08:00:00Z'],
  ['datetime', '2026-01-31 08:00:00', 'refused'],
  ['datetime', '2026-01-31 08:00:00', '2026-01-31T07:00:00Z', OSLO],
  ['datetime', '2026-07-31T08:00', '2026-07-31T06:00:00Z', OSLO],
  ['datetime', '2026-07-31 08:00:00.1234567', '2026-07-31T06:00:00.1234567Z', OSLO],
  ['datetime', '2026-07-31T08:00:00+09:00', '2026-07-31T08:00:00+09:00', OSLO],
  ['datetime', '2026-07-31T08:00+09:00', 'refused', OSLO],
  ['datetime', '2026-02-30 08:00:00', 'refused', OSLO],
  ['datetime', '2026-12-31 23:59:60', 'refused', OSLO],
  // A leap second is the last microsecond before the next month in UTC, in every spelling.
  ['datetime', '2016-12-31 23:59:60', '2016-12-31T23:59:59.999999Z', { zone: 'UTC' }],
  ['datetime', '2017-01-01 00:59:60.25', '2016-12-31T23:59:59.999999Z', OSLO],
  ['datetime', '2016-12-31 18:59:60', '2016-12-31T23:59:59.999999Z', { zone: 'America/New_York' }],
  ['datetime', '2016-12-31 23:59:60', 'refused', { zone: 'America/New_York' }],
  ['datetime', '2016-12-31 18:59:60.5-05', '2016-12-31T23:59:59.999999Z', { format: 'yyyy-MM-dd HH:mm:ss.SX' }],
  ['datetime', '2016-12-31 23:59:60Z', '2016-12-31T23:59:59.999999Z', { format: 'yyyy-MM-dd HH:mm:ssX' }],
  ['datetime', '2026-12-31 24:00:00', 'refused', OSLO],
  // The clocks skip an hour, and repeat one.
  ['datetime', '2026-03-29 01:59:59', '2026-03-29T00:59:59Z', OSLO],
  ['datetime', '2026-03-29 02:30:00', 'refused', OSLO],
  ['datetime', '2026-03-29 03:00:00', '2026-03-29T01:00:00Z', OSLO],
  ['datetime', '2026-10-25 01:59:59', '2026-10-24T23:59:59Z', OSLO],
  ['datetime', '2026-10-25 02:30:00', 'refused', OSLO],
  ['datetime', '2026-10-25 03:00:00', '2026-10-25T02:00:00Z', OSLO],
  ['datetime', '2026-04-05 01:45:00', 'refused', { zone: 'Australia/Lord_Howe' }],
  ['datetime', '2011-12-30 12:00:00', 'refused', { zone: 'Pacific/Apia' }],
  ['datetime', '1950-01-01 00:00:00', '1949-12-31T18:30:00Z', { zone: 'Asia/Kolkata' }],
  ['datetime', '9999-12-31 23:00:00', 'refused', { zone: 'America/New_York' }],
  ['datetime', '31.01.2026 08:05', '2026-01-31T07:05:00Z', { ...OSLO, format: 'dd.MM.yyyy HH:mm' }],
  ['datetime', '31.13.2026 08:05', 'refused', { ...OSLO, format: 'dd.MM.yyyy HH:mm' }],
  ['datetime', '31.01.2026', 'refused', { ...OSLO, format: 'dd.MM.yyyy HH:mm' }],
  ['datetime', '1/31/2026 8:05 PM', '2026-02-01T01:05:00Z', { zone: 'America/New_York', format: 'M/d/yyyy h:mm a' }],
  ['datetime', '1/31/2026 12:05 am', '2026-01-31T05:05:00Z', { zone: 'America/New_York', format: 'M/d/yyyy h:mm a' }],
  ['datetime', '1/31/2026 13:05 am', 'refused', { zone: 'America/New_York', format: 'M/d/yyyy h:mm a' }],
  [
    'datetime',
    '31-JAN-2026 08.05.00.250000',
    '2026-01-31T08:05:00.250000Z',
    { zone: 'UTC', format: 'dd-MMM-yyyy HH.mm.ss.S' },
  ],
  ['datetime', '20260131T080500', '2026-01-31T08:05:00Z', { zone: 'UTC', format: "yyyyMMdd'T'HHmmss" }],
  ['datetime', '2026-01-31', '2026-01-30T23:00:00Z', { ...OSLO, format: 'yyyy-MM-dd' }],
  ['datetime', '2026-01-31 08:05:00 +0530', '2026-01-31T02:35:00Z', { format: 'yyyy-MM-dd HH:mm:ss X' }],
  ['datetime', '2026-01-31 08:05:00-08', '2026-01-31T16:05:00Z', { format: 'yyyy-MM-dd HH:mm:ssX' }],
];

test.each([...NUMBERS, ...TIMES].map(([type, text, wanted, spelling]) => ({ type, text, wanted, spelling })))(
  '$type $text, spelled as $spelling',
  ({ type, text, wanted, spelling }) => {
    expect(valueOf(text, { type, ...spelling })).toBe(wanted);
  },
);

test('a mapping reads values with blanks, makes keys of empty values if it says so, and of the number of the record', () => {
  const namespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  const column = 'n';
  const read = (columns: 'line' | readonly string[], empty?: 'keep') =>
    cellReader(
      {
        row_key: { uuid5: { namespace, columns: columns === 'line' ? columns : [...columns], empty } },
        column_name: 'BASE',
        ref_key: { column },
        created_at: { column: 'at', zone: 'Europe/Oslo', format: 'd.M.yyyy' },
        body: {
          n: { column, type: 'number' },
          ok: { column: 'ok', type: 'boolean' },
          text: { column: 'ok', type: 'string' },
        },
        delimiter: ',',
        empty: 'null',
      },
      ['a', 'b', column, 'ok', 'at'],
    );
  const body = { n: 5, ok: null, text: '  ' };
  const keyOf = (name: string): string => uuidV5(namespace, name);
  expect(read(['a', 'b'], 'keep')(['x', '', ' 5 ', '  ', '1.2.2026 '], 3)).toMatchObject({
    row_key: keyOf('["x",""]'),
    ref_key: 5,
    created_at: '2026-01-31T23:00:00.000000Z',
    body,
  });
  expect(read('line')(['', '', '5', 'Yes ', '1.2.2026'], 3)).toMatchObject({
    row_key: keyOf('3'),
    body: { ok: true, text: 'Yes ' },
  });
  expect(() => read(['a', 'b'])(['x', '', '5', ''], 3)).toThrow('b: wanted a value');
  expect(() => read(['a', 'b'], 'keep')(['', '', '5', ''], 3)).toThrow('a: wanted a value');
});

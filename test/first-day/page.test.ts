import { expect, test } from 'vitest';
import { firstDayCommand, readFirstDay } from './options.ts';
import { pageOf, timesOf } from './page.ts';

const MEASURED = {
  url: 'https://abc123.execute-api.eu-west-1.amazonaws.com',
  region: 'eu-west-1',
  version: '1.2.3',
  began: new Date('2026-11-25T10:00:00Z'),
  ended: new Date('2026-11-25T10:05:00Z'),
};

test('the page has the outcome of each row, a table for what was measured, and names no account', () => {
  const results = [{ what: 'a | b', result: timesOf([1, 2, 3]) }];
  const page = pageOf(MEASURED, [
    { title: 'Lags', outcome: 'passed', why: '', section: { title: 'Lags', how: 'As seen from here.', results } },
    {
      title: 'The bill',
      outcome: 'FAILED',
      why: 'arn:aws:iam::123456789012:user/ann of 123456789012\n has no right',
    },
  ]);
  expect(page).toBe(`# abc123.execute-api.eu-west-1.amazonaws.com, measured

Schemaless 1.2.3 in eu-west-1, from 2026-11-25T10:00:00.000Z to 2026-11-25T10:05:00.000Z, from one machine, by \`npm run first-day\`.

| row | outcome |
|---|---|
| Lags | passed |
| The bill | FAILED: arn:… of … has no right |

## Lags

As seen from here.

| what | figure |
|---|---|
| a \\| b | 2.0, 3.0, 3.0 ms of 3 |
`);
});

test('flags have defaults, and what cannot be used is named', () => {
  const read = (...flags: readonly string[]) =>
    readFirstDay(
      [MEASURED.url, ...flags],
      firstDayCommand()
        .exitOverride()
        .configureOutput({ writeErr: () => {} }),
    );
  expect(read()).toEqual({
    url: MEASURED.url,
    region: 'eu-west-1',
    samples: 200,
    data: '.local',
  });
  expect(read('--failover', 'group-2', '--samples', '5')).toMatchObject({ failover: 'group-2', samples: 5 });
  expect(() => read('--samples', '0')).toThrow('Wanted a whole number from 1');
});

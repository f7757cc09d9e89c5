import { beforeEach, describe, expect, it } from 'vitest';
import { type Problem } from '../../../shared/definitions/definitions-error.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { definitionsFolder } from './definitions-folder.ts';

const folder = definitionsFolder();
const setDatastore = (shards: number): void =>
  folder.write('trips/datastore.yaml', `datastore: trips\nshards: ${shards}\n`);
beforeEach(() => setDatastore(4));

const write = (text: string, file = 'by_driver.yaml'): void => folder.write(`trips/indexes/${file}`, text);

const HEAD = 'table: by_driver\ndatastore: trips\ncolumn_defs:\n  - column_key: BASE\n    fields:\n';
const DRIVER = '      - { field: driver, type: UUID }\n';
const CITY = '      - { field: city, type: UUID }\n';
/** Fields f1, f2, …, one a line. */
const fields = (count: number): string =>
  Array.from({ length: count }, (_, position) => `      - { field: f${position + 1}, type: integer }\n`).join('');

const file = (fields: string): string => `${HEAD}${DRIVER}${fields}`;
const field = (text: string): string => file(`      - ${text}\n`);
const keys = (text: string): string => file(`${CITY}keys: ${text}\n`);
const OTHER = 'table: by_driver\ndatastore: trips\n';
const instead = (text: string, other: string): string => `${HEAD.replace(text, other)}${DRIVER}`;

describe('the indexes of a datastore', () => {
  it('are read in the order of their names, fields in the order of the file', () => {
    write(
      `${file('')}      - field: fare.total\n        type: number\n  - column_key: FARE ADJUSTMENT\n    fields: [{ field: reason, type: string }]\nkeys:\n  - [fare.total, reason]\n`,
    );
    write(
      'table: a\ndatastore: trips\ncolumn_defs: [{ column_key: BASE, fields: [{ field: at, type: datetime }] }]\n',
      'a.yaml',
    );
    write('', '.hidden');
    expect(folder.load()[0]?.indexes).toEqual([
      { name: 'a', fields: [{ field: 'at', type: 'datetime', column_key: 'BASE' }], keys: [] },
      {
        name: 'by_driver',
        fields: [
          { field: 'driver', type: 'UUID', column_key: 'BASE' },
          { field: 'fare.total', type: 'number', column_key: 'BASE' },
          { field: 'reason', type: 'string', column_key: 'FARE ADJUSTMENT' },
        ],
        keys: [['fare.total', 'reason']],
      },
    ]);
  });

  const A_TYPE = 'UUID, string, integer, number, boolean, datetime';
  const SHARD_FIELD = 'UUID, string, integer or datetime for the first field, the shard field';
  /** Files; the line of the problem; what its message contains. */
  const REFUSED: readonly (readonly [string, number, string?, string?])[] = [
    [file('colour: blue\n'), 7, 'unknown key "colour": wanted one of table, datastore, column_defs, keys'],
    [file('key: []\n'), 7, 'unknown key "key": wanted one of ', '; did you mean keys?'],
    [file('    size: 3\n'), 7, 'unknown key "size": wanted one of column_key, fields'],
    [
      file('      - field: x\n        type: UUID\n        size: 3\n'),
      9,
      'unknown key "size": wanted one of field, type',
    ],
    [file('__proto__: {}\n'), 7, 'unknown key "__proto__"'],
    [instead('by_driver', 'by_rider'), 1, 'table: wanted "by_driver", the name of its file, got "by_rider"'],
    [instead('table: by_driver\n', ''), 1, 'table: wanted a name ', 'got nothing'],
    [instead('by_driver', 'ByDriver'), 1, 'table: wanted a name of 1 to 55 of a-z, 0-9 and _'],
    [instead('by_driver', 'b'.repeat(56)), 1, 'table: wanted a name of 1 to 55'],
    [instead('trips', 'rides'), 2, 'datastore: wanted "trips", the name of its folder, got "rides"'],
    [OTHER, 1, 'column_defs: wanted a list of columns with their fields, got nothing'],
    [`${OTHER}column_defs: []\n`, 3, 'column_defs: wanted a list ', 'got an empty list'],
    [`${OTHER}column_defs:\n  - BASE\n`, 4, 'column_defs[0]: wanted a mapping of column_key and fields, got "BASE"'],
    [HEAD, 5, 'column_defs[0].fields: wanted a list of fields', 'got null'],
    [instead('column_key: BASE\n    ', ''), 4, 'column_defs[0].column_key: wanted text of 1 to 255 bytes, got nothing'],
    [instead('BASE', "''"), 4, 'column_key: wanted text of 1 to 255 bytes, got ""'],
    [instead('BASE', '7'), 4, 'column_key: wanted text ', ' got 7'],
    [instead('BASE', 'é'.repeat(128)), 4, 'column_key: wanted text of 1 to 255 bytes'],
    [field('city'), 7, 'column_defs[0].fields[1]: wanted a mapping of field and type, got "city"'],
    [field('{ field: city, type: uuid }'), 7, `fields[1].type: wanted one of ${A_TYPE}, got "uuid"`],
    [field('{ field: city }'), 7, 'fields[1].type: wanted one of ', 'got nothing'],
    [field('{ type: UUID }'), 7, 'fields[1].field: wanted a name, ', 'got nothing'],
    [field('{ field: 1st, type: UUID }'), 7, 'fields[1].field: wanted a name, ', 'got "1st"'],
    [field('{ field: fare..total, type: number }'), 7, 'got "fare..total"'],
    [field('{ field: fare.__proto__, type: number }'), 7, 'got "fare.__proto__"'],
    [field(`{ field: ${'a'.repeat(65)}, type: number }`), 7, 'at most 64 in all'],
    [field('{ field: limit, type: integer }'), 7, 'a name that means nothing else in a query (limit, ', 'got "limit"'],
    [field('{ field: row_key, type: UUID }'), 7, 'got "row_key"'],
    [file(`${CITY}${DRIVER}`), 8, 'fields[2].field: wanted each field once, got "driver" again, which line 6 has'],
    [
      file(`  - column_key: STATUS\n    fields:\n${DRIVER}`),
      9,
      'column_defs[1].fields[0].field: wanted each field once',
    ],
    [`${HEAD}${fields(17)}`, 22, 'column_defs: wanted at most 16 fields, got 17'],
    [
      `${HEAD}      - { field: x, type: boolean }\n`,
      6,
      SHARD_FIELD,
      'got "boolean": all entries would be in two shards',
    ],
    [`${HEAD}      - { field: x, type: number }\n${CITY}`, 6, SHARD_FIELD, 'got "number"'],
    [keys('city'), 8, 'keys: wanted a list of lists of field names, got "city"'],
    [keys('\n  - city'), 9, 'keys[0]: wanted a list of 2 to 8 field names ', 'got "city"'],
    [keys('\n  - [city]'), 9, '2 to 8 field names (each field has a key of its own already), got a list of 1'],
    [keys('\n  - [city, at]'), 9, 'keys[0][1]: wanted one of city, got "at"'],
    [keys('\n  - [driver, city]'), 9, 'keys[0][0]: wanted fields behind the shard field, ', 'got "driver"'],
    [keys('\n  - [city, city]'), 9, 'keys[0][1]: wanted each field once, got "city" again, which line 9 has'],
    [
      `${HEAD}${fields(3)}keys:\n  - [f2, f3]\n  - [f3, f2]\n  - [f2, f3]\n`,
      12,
      'keys[2]: wanted each combination once, got "f2, f3" again, which line 10 has',
    ],
    [
      `${HEAD}${fields(7)}keys:\n${combinations(17)}`,
      13,
      'keys: wanted at most 16 lists of field names, got a list of 17',
    ],
    [file('keys: [city\n'), 8],
    [file('keys: *none\n'), 1, 'none'],
    ['', 1, 'wanted a mapping'],
  ];
  const CASES = REFUSED.map(([text, line, part = '', other = '']) => ({ text, line, part, other }));
  it.each(CASES)('are refused as $text, with line $line', ({ text, line, part, other }) => {
    write(text);
    const found = folder.problems();
    expect(found).toMatchObject([{ file: 'trips/indexes/by_driver.yaml', line }]);
    expect(found[0]?.message).toContain(part);
    expect(found[0]?.message).toContain(other);
  });

  it('refuse two of one name', () => {
    write(`${HEAD}${DRIVER}`);
    write(`${HEAD}${DRIVER}`, 'same.yaml');
    expect(folder.problems()).toContainEqual({
      file: 'trips/indexes/same.yaml',
      line: 1,
      message: `index by_driver is defined in trips/indexes/by_driver.yaml already`,
    });
  });

  it('have all problems of all files named at once, with those of the datastores', () => {
    setDatastore(0);
    write(`${HEAD.replace('trips', 'rides')}      - { field: limit, type: text }\n${DRIVER}keys:\n  - [driver, at]\n`);
    write('- 1\n', 'other.yaml');
    expect(folder.problems().map(({ file, line }) => `${file}:${line}`)).toEqual([
      'trips/datastore.yaml:2',
      'trips/indexes/by_driver.yaml:2',
      'trips/indexes/by_driver.yaml:6',
      'trips/indexes/by_driver.yaml:6',
      'trips/indexes/by_driver.yaml:9',
      'trips/indexes/other.yaml:1',
    ]);
  });

  it('have all problems of one file named at once, in the order of its lines, however many values are not of their kind', () => {
    write(
      `tables: x\ndatastore: 7\ncolumn_defs:\n  - column_key: ''\n    fields:\n      - { field: a b, type: UUID }\n${CITY}${CITY}  - NOTES\nkeys:\n  - [city, 7]\n  - at\n`,
    );
    expect(
      folder.problems().map(({ line, message }) => `${line}: ${message.replace(/,[^,]*got /u, ' … got ')}`),
    ).toEqual([
      expect.stringMatching(/^1: table: wanted a name of 1 to 55 .*got nothing$/u),
      '1: unknown key "tables": wanted one of table, datastore, column_defs, keys; did you mean table?',
      '2: datastore: wanted the name of its folder … got 7',
      '4: column_defs[0].column_key: wanted text of 1 to 255 bytes … got ""',
      expect.stringContaining('6: column_defs[0].fields[0].field: wanted a name'),
      '8: column_defs[0].fields[2].field: wanted each field once … got "city" again, which line 7 has',
      '9: column_defs[1]: wanted a mapping of column_key and fields … got "NOTES"',
      '11: keys[0][1]: wanted the name of a field … got 7',
      expect.stringContaining('12: keys[1]: wanted a list of 2 to 8 field names'),
    ]);
  });

  it('take the first field that there is for the shard field where the columns before it have none', () => {
    write(
      `${HEAD.replace('fields:', 'fields: []')}  - column_key: NOTES\n    fields:\n      - { field: rating, type: number }\n`,
    );
    expect(folder.problems()).toMatchObject([
      { line: 5, message: expect.stringContaining('column_defs[0].fields: wanted a list of fields') },
      {
        line: 8,
        message: expect.stringContaining('column_defs[1].fields[0].type: wanted UUID, string, integer or datetime'),
      },
    ]);
  });

  it('warn of a shard field that sounds as if it had few values', () => {
    const warnings: Problem[] = [];
    write(`${HEAD}      - { field: trip.status, type: string }\n`);
    write(`${HEAD.replace('by_driver', 'by_licence')}      - { field: licence, type: string }\n`, 'by_licence.yaml');
    expect(loadDefinitions(folder.path, (warning) => warnings.push(warning)).datastores).toHaveLength(1);
    expect(warnings).toEqual([
      {
        file: 'trips/indexes/by_driver.yaml',
        line: 6,
        message: expect.stringContaining('"trip.status" sounds like few'),
      },
    ]);
  });
});

/** So many different keys of f2 to f7. */
function combinations(count: number): string {
  const pairs = [2, 3, 4, 5, 6, 7].flatMap((a) =>
    [2, 3, 4, 5, 6, 7].filter((b) => b !== a).map((b) => `  - [f${a}, f${b}]\n`),
  );
  return pairs.slice(0, count).join('');
}

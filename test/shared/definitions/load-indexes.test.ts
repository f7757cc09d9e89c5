import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Problem } from '../../../shared/definitions/definitions-error.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { folder, problemsOf, writeIn } from './support/definitions-folder.ts';

const setDatastore = (shards: number): void => writeIn('trips/datastore.yaml', `datastore: trips\nshards: ${shards}\n`);
beforeEach(() => setDatastore(4));

const write = (text: string, file = 'by_driver.yaml'): void => writeIn(`trips/indexes/${file}`, text);

const HEAD = 'table: by_driver\ndatastore: trips\ncolumn_defs:\n  - column_key: BASE\n    fields:\n';
const DRIVER = '      - { field: driver, type: UUID }\n';
const CITY = '      - { field: city, type: UUID }\n';
/** Fields f1, f2, …, one a line. */
const fields = (count: number): string =>
  Array.from({ length: count }, (_, position) => `      - { field: f${position + 1}, type: integer }\n`).join('');

type Refused = [string, string, number, RegExp];
/** The head says something else in place of this. */
const withHead = (what: string, text: string, instead: string, line: number, message: RegExp): Refused => [
  what,
  `${HEAD.replace(text, instead)}${DRIVER}`,
  line,
  message,
];
/** The second field, on line 7, is this. */
const withField = (what: string, text: string, message: RegExp): Refused => [
  what,
  `${HEAD}${DRIVER}      - ${text}\n`,
  7,
  message,
];
/** The keys, from line 8 on, are these. */
const withKeys = (what: string, text: string, line: number, message: RegExp): Refused => [
  what,
  `${HEAD}${DRIVER}${CITY}${text}\n`,
  line,
  message,
];

describe('the indexes of a datastore', () => {
  it('are read in the order of their names, fields in the order of the file', () => {
    write(
      `${HEAD}${DRIVER}      - field: fare.total\n        type: number\n  - column_key: FARE ADJUSTMENT\n    fields: [{ field: reason, type: string }]\nkeys:\n  - [fare.total, reason]\n`,
    );
    write(
      'table: a\ndatastore: trips\ncolumn_defs: [{ column_key: BASE, fields: [{ field: at, type: datetime }] }]\n',
      'a.yaml',
    );
    write('', '.hidden');
    const [trips] = loadDefinitions(folder.path).datastores;
    expect(trips?.indexes).toEqual([
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

  it.each<Refused>([
    [
      'a key that is not known',
      `${HEAD}${DRIVER}colour: blue\n`,
      7,
      /unknown key "colour": wanted one of table, datastore, column_defs, keys/u,
    ],
    [
      'a key that is nearly known',
      `${HEAD}${DRIVER}key: []\n`,
      7,
      /unknown key "key": wanted one of .*keys; did you mean keys\?/u,
    ],
    [
      'a key of a column that is not known',
      `${HEAD}${DRIVER}    size: 3\n`,
      7,
      /unknown key "size": wanted one of column_key, fields/u,
    ],
    [
      'a key of a field that is not known',
      `${HEAD}${DRIVER}      - field: x\n        type: UUID\n        size: 3\n`,
      9,
      /unknown key "size": wanted one of field, type/u,
    ],
    withHead(
      'another name than its file',
      'by_driver',
      'by_rider',
      1,
      /table: wanted "by_driver", the name of its file, got "by_rider"/u,
    ),
    withHead('no name', 'table: by_driver\n', '', 1, /table: wanted a name .*got nothing/u),
    withHead('a bad name', 'by_driver', 'ByDriver', 1, /table: wanted a name of 1 to 55 of a-z, 0-9 and _/u),
    withHead('a name too long for a table', 'by_driver', 'b'.repeat(56), 1, /table: wanted a name of 1 to 55/u),
    withHead(
      'another datastore',
      'trips',
      'rides',
      2,
      /datastore: wanted "trips", the name of its folder, got "rides"/u,
    ),
    [
      'no columns',
      'table: by_driver\ndatastore: trips\n',
      1,
      /column_defs: wanted a list of columns with their fields, got nothing/u,
    ],
    [
      'an empty list of columns',
      'table: by_driver\ndatastore: trips\ncolumn_defs: []\n',
      3,
      /column_defs: wanted a list .*got an empty list/u,
    ],
    [
      'a column that is no mapping',
      'table: by_driver\ndatastore: trips\ncolumn_defs:\n  - BASE\n',
      4,
      /column_defs\[0\]: wanted a mapping of column_key and fields, got "BASE"/u,
    ],
    ['no fields, so no shard field', HEAD, 5, /column_defs\[0\]\.fields: wanted a list of fields.*got null/u],
    withHead(
      'no column name',
      'column_key: BASE\n    ',
      '',
      4,
      /column_defs\[0\]\.column_key: wanted text of 1 to 255 bytes, got nothing/u,
    ),
    withHead('an empty column name', 'BASE', "''", 4, /column_key: wanted text of 1 to 255 bytes, got ""/u),
    withHead('a column name that is a number', 'BASE', '7', 4, /column_key: wanted text .* got 7/u),
    withHead('a column name of 256 bytes', 'BASE', 'é'.repeat(128), 4, /column_key: wanted text of 1 to 255 bytes/u),
    withField(
      'a field that is no mapping',
      'city',
      /column_defs\[0\]\.fields\[1\]: wanted a mapping of field and type, got "city"/u,
    ),
    withField(
      'a type that is not known',
      '{ field: city, type: uuid }',
      /fields\[1\]\.type: wanted one of UUID, string, integer, number, boolean, datetime, got "uuid"/u,
    ),
    withField('no type', '{ field: city }', /fields\[1\]\.type: wanted one of .*got nothing/u),
    withField('a field without a name', '{ type: UUID }', /fields\[1\]\.field: wanted a name, .*got nothing/u),
    withField(
      'a field with a bad name',
      '{ field: 1st, type: UUID }',
      /fields\[1\]\.field: wanted a name, .*got "1st"/u,
    ),
    withField('a path with an empty part', '{ field: fare..total, type: number }', /got "fare\.\.total"/u),
    withField('a path that leads to a prototype', '{ field: fare.__proto__, type: number }', /got "fare\.__proto__"/u),
    withField('a path of 65 characters', `{ field: ${'a'.repeat(65)}, type: number }`, /at most 64 in all/u),
    withField(
      'a query word',
      '{ field: limit, type: integer }',
      /fields\[1\]\.field: wanted a name that means nothing else in a query \(limit, .*row_key\), got "limit"/u,
    ),
    withField('the row key as a field', '{ field: row_key, type: UUID }', /got "row_key"/u),
    [
      'a field twice',
      `${HEAD}${DRIVER}${CITY}${DRIVER}`,
      8,
      /fields\[2\]\.field: wanted each field once, got "driver" again, which line 6 has/u,
    ],
    [
      'a field of two columns',
      `${HEAD}${DRIVER}  - column_key: STATUS\n    fields:\n${DRIVER}`,
      9,
      /column_defs\[1\]\.fields\[0\]\.field: wanted each field once/u,
    ],
    ['17 fields', `${HEAD}${fields(17)}`, 22, /column_defs: wanted at most 16 fields, got 17/u],
    [
      'a boolean as shard field',
      `${HEAD}      - { field: driver, type: boolean }\n`,
      6,
      /fields\[0\]\.type: wanted UUID, string, integer or datetime for the first field, the shard field, got "boolean": all entries would be in two shards/u,
    ],
    [
      'a number as shard field',
      `${HEAD}      - { field: driver, type: number }\n${CITY}`,
      6,
      /the shard field, got "number"/u,
    ],
    withKeys('keys that are no list', 'keys: city', 8, /keys: wanted a list of lists of field names, got "city"/u),
    withKeys(
      'a key that is no list',
      `keys:\n  - city`,
      9,
      /keys\[0\]: wanted a list of 2 to 8 field names .*got "city"/u,
    ),
    withKeys(
      'a key of one field',
      `keys:\n  - [city]`,
      9,
      /keys\[0\]: wanted a list of 2 to 8 field names \(each field has a key of its own already\), got a list of 1/u,
    ),
    withKeys(
      'a key of a field that is not there',
      `keys:\n  - [city, at]`,
      9,
      /keys\[0\]\[1\]: wanted one of city, got "at"/u,
    ),
    withKeys(
      'a key of the shard field',
      `keys:\n  - [driver, city]`,
      9,
      /keys\[0\]\[0\]: wanted fields behind the shard field, .*got "driver"/u,
    ),
    withKeys(
      'a key that repeats a field',
      `keys:\n  - [city, city]`,
      9,
      /keys\[0\]\[1\]: wanted each field once, got "city" again, which line 9 has/u,
    ),
    [
      'a key twice',
      `${HEAD}${fields(3)}keys:\n  - [f2, f3]\n  - [f3, f2]\n  - [f2, f3]\n`,
      12,
      /keys\[2\]: wanted each combination once, got "f2, f3" again, which line 10 has/u,
    ],
    [
      '17 keys',
      `${HEAD}${fields(7)}keys:\n${combinations(17)}`,
      13,
      /keys: wanted at most 16 lists of field names, got a list of 17/u,
    ],
    ['broken YAML', `${HEAD}${DRIVER}keys: [city\n`, 8, /./u],
    ['an alias of nothing', `${HEAD}${DRIVER}keys: *none\n`, 1, /none/u],
    ["a key that would be an object's prototype", `${HEAD}${DRIVER}__proto__: {}\n`, 7, /unknown key "__proto__"/u],
    ['nothing', '', 1, /wanted a mapping/u],
  ])('refuse %s, with its line', (_, text, line, message) => {
    write(text);
    expect(problemsOf()).toEqual([
      { file: join('trips', 'indexes', 'by_driver.yaml'), line, message: expect.stringMatching(message) },
    ]);
  });

  it('refuse two of one name', () => {
    write(`${HEAD}${DRIVER}`);
    write(`${HEAD}${DRIVER}`, 'same.yaml');
    expect(problemsOf()).toContainEqual({
      file: join('trips', 'indexes', 'same.yaml'),
      line: 1,
      message: `index by_driver is defined in ${join('trips', 'indexes', 'by_driver.yaml')} already`,
    });
  });

  it('refuse files that would not be read', () => {
    write(`${HEAD}${DRIVER}`, 'by_driver.yml');
    expect(problemsOf()).toEqual([
      {
        file: join('trips', 'indexes', 'by_driver.yml'),
        line: 0,
        message: 'wanted only files named <index>.yaml in the folder indexes: did you mean by_driver.yaml?',
      },
    ]);
  });

  it('have all problems of all files named at once, with those of the datastores', () => {
    setDatastore(0);
    write(`${HEAD.replace('trips', 'rides')}      - { field: limit, type: text }\n${DRIVER}keys:\n  - [driver, at]\n`);
    write('- 1\n', 'other.yaml');
    expect(problemsOf().map(({ file, line }) => `${file}:${line}`)).toEqual([
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
    expect(problemsOf().map(({ line, message }) => `${line}: ${message.replace(/,[^,]*got /u, ' … got ')}`)).toEqual([
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
    expect(problemsOf()).toMatchObject([
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
        file: join('trips', 'indexes', 'by_driver.yaml'),
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

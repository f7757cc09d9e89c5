import { describe, expect, it } from 'vitest';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { folder, problemsOf, writeIn } from './support/definitions-folder.ts';

const HEAD = 'datastore: trips\nshards: 4\n';
const write = (sealed: string): void => writeIn('trips/datastore.yaml', `${HEAD}${sealed}`);
const RIDER = '  - { column: BASE, subject: rider_uuid, fields: [name, contact.mail] }\n';

function writeIndex(field: string, file = 'by_name.yaml'): void {
  const table = file.replace('.yaml', '');
  writeIn(
    `trips/indexes/${file}`,
    `table: ${table}\ndatastore: trips\ncolumn_defs:\n  - column_key: BASE\n    fields:\n      - ${field}\n`,
  );
}

describe('the sealed fields of a datastore', () => {
  it('are read, and mark those fields of indexes that they are', () => {
    write(`sealed:\n${RIDER}  - { column: NOTE, subject: by, fields: [text] }\n`);
    writeIndex('{ field: name, type: string }');
    writeIndex('{ field: city, type: string }', 'by_city.yaml');
    const [trips] = loadDefinitions(folder.path).datastores;
    expect(trips?.sealed).toEqual([
      { column: 'BASE', subject: 'rider_uuid', fields: ['name', 'contact.mail'] },
      { column: 'NOTE', subject: 'by', fields: ['text'] },
    ]);
    expect(trips?.indexes).toMatchObject([
      { name: 'by_city', fields: [{ field: 'city', type: 'string', column_key: 'BASE' }] },
      { name: 'by_name', fields: [{ field: 'name', type: 'string', column_key: 'BASE', sealed: true }] },
    ]);
    expect(trips?.indexes[0]?.fields[0]).not.toHaveProperty('sealed');
  });

  it('are none where nothing is said', () => {
    write('');
    expect(loadDefinitions(folder.path).datastores[0]).not.toHaveProperty('sealed');
  });

  it.each([
    ['no list', 'sealed: BASE\n', 3, /list of up to 32 mappings/u],
    ['an empty list', 'sealed: []\n', 3, /list of up to 32 mappings/u],
    ['no subject', 'sealed:\n  - { column: BASE, fields: [name] }\n', 4, /sealed\[0\].*subject/u],
    ['no fields', 'sealed:\n  - { column: BASE, subject: by, fields: [] }\n', 4, /list of up to 32 fields/u],
    [
      'a path that is none',
      'sealed:\n  - { column: BASE, subject: by, fields: [a..b] }\n',
      4,
      /names joined by points/u,
    ],
    [
      'its subject',
      'sealed:\n  - { column: BASE, subject: by, fields: [by] }\n',
      4,
      /beside by, which names a subject/u,
    ],
    ['what its subject lies in', 'sealed:\n  - { column: BASE, subject: a.by, fields: [a] }\n', 4, /beside a\.by/u],
    [
      'the subject of another list',
      `sealed:\n${RIDER}  - { column: BASE, subject: by, fields: [rider_uuid] }\n`,
      5,
      /beside rider_uuid/u,
    ],
    ['a field twice', `sealed:\n${RIDER}  - { column: BASE, subject: by, fields: [name] }\n`, 5, /each field once/u],
    [
      'a field in another',
      `sealed:\n${RIDER}  - { column: BASE, subject: by, fields: [contact] }\n`,
      5,
      /got contact/u,
    ],
  ])('refuse %s, and name the line', (_what, text, line, message) => {
    write(text);
    expect(problemsOf()).toEqual([
      { file: 'trips/datastore.yaml', line, message: expect.stringMatching(message) as string },
    ]);
  });

  it.each([
    ['a number', '{ field: name, type: integer }', /UUID or string for name, which is sealed/u],
    ['a time', '{ field: name, type: datetime }', /UUID or string for name, which is sealed/u],
    ['something in one', '{ field: name.first, type: string }', /name itself, which is sealed as a whole/u],
  ])('are of no index that has %s of them', (_what, field, message) => {
    write(`sealed:\n${RIDER}`);
    writeIndex(field);
    expect(problemsOf()).toEqual([
      { file: 'trips/indexes/by_name.yaml', line: 6, message: expect.stringMatching(message) as string },
    ]);
  });

  it('have one type in all indexes, since they have one hash', () => {
    write(`sealed:\n${RIDER}`);
    writeIndex('{ field: name, type: UUID }', 'a.yaml');
    writeIndex('{ field: name, type: string }', 'b.yaml');
    expect(problemsOf()).toMatchObject([{ file: 'trips/indexes/b.yaml', message: expect.stringContaining('UUID') }]);
  });
});

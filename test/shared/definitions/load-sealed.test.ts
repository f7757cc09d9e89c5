import { describe, expect, it } from 'vitest';
import { definitionsFolder } from './definitions-folder.ts';

const folder = definitionsFolder();
const write = (sealed: string): void =>
  folder.write('trips/datastore.yaml', `datastore: trips\nshards: 4\n${sealed && `sealed:${sealed}\n`}`);
const RIDER = '\n  - { column: BASE, subject: rider_uuid, fields: [name, contact.mail] }';
const byOf = (fields: string): string => `\n  - { column: BASE, subject: by, fields: [${fields}] }`;

function writeIndex(name: string, field: string): void {
  const columns = `column_defs:\n  - column_key: BASE\n    fields:\n      - ${field}\n`;
  folder.write(`trips/indexes/${name}.yaml`, `table: ${name}\ndatastore: trips\n${columns}`);
}

describe('the sealed fields of a datastore', () => {
  it('are read, and marked in the indexes that have them', () => {
    write(`${RIDER}\n  - { column: NOTE, subject: by, fields: [text] }`);
    writeIndex('by_name', '{ field: name, type: string }');
    writeIndex('by_city', '{ field: city, type: string }');
    const [trips] = folder.load();
    expect(trips?.sealed).toEqual([
      { column: 'BASE', subject: 'rider_uuid', fields: ['name', 'contact.mail'] },
      { column: 'NOTE', subject: 'by', fields: ['text'] },
    ]);
    expect(trips?.indexes.map(({ fields }) => fields)).toEqual([
      [{ field: 'city', type: 'string', column_key: 'BASE' }],
      [{ field: 'name', type: 'string', column_key: 'BASE', sealed: true }],
    ]);
  });

  it('are none by default', () => {
    write('');
    expect(folder.load()[0]).not.toHaveProperty('sealed');
  });

  it.each([
    [' BASE', 3, 'list of up to 32 mappings'],
    [' []', 3, 'list of up to 32 mappings'],
    ['\n  - { column: BASE, fields: [name] }', 4, 'subject'],
    [byOf(''), 4, 'list of up to 32 fields'],
    [byOf('a..b'), 4, 'names joined by points'],
    [byOf('by'), 4, 'beside by, which names a subject'],
    ['\n  - { column: BASE, subject: a.by, fields: [a] }', 4, 'beside a.by'],
    [`${RIDER}${byOf('rider_uuid')}`, 5, 'beside rider_uuid'],
    [`${RIDER}${byOf('name')}`, 5, 'each field once'],
    [`${RIDER}${byOf('contact')}`, 5, 'got contact'],
  ])('are refused as sealed:%s, with line %i', (text, line, message) => {
    write(text);
    expect(folder.problems()).toEqual([
      { file: 'trips/datastore.yaml', line, message: expect.stringContaining(message) as string },
    ]);
  });

  it.each([
    ['{ field: name, type: integer }', 'UUID or string for name, which is sealed'],
    ['{ field: name, type: datetime }', 'UUID or string for name, which is sealed'],
    ['{ field: name.first, type: string }', 'name itself, which is sealed as a whole'],
  ])('are refused in an index as %s', (field, message) => {
    write(RIDER);
    writeIndex('by_name', field);
    expect(folder.problems()).toEqual([
      { file: 'trips/indexes/by_name.yaml', line: 6, message: expect.stringContaining(message) as string },
    ]);
  });

  it('have one type in all indexes, since they have one hash', () => {
    write(RIDER);
    writeIndex('a', '{ field: name, type: UUID }');
    writeIndex('b', '{ field: name, type: string }');
    expect(folder.problems()).toMatchObject([
      { file: 'trips/indexes/b.yaml', message: expect.stringContaining('UUID') },
    ]);
  });
});

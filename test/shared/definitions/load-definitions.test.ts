import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { folder, problemsOf, writeIn } from './support/definitions-folder.ts';

const write = (name: string, text: string): void => writeIn(`${name}/datastore.yaml`, text);

describe('loadDefinitions', () => {
  it('reads every datastore, in the order of their names', () => {
    write('trips', 'datastore: trips\nshards: 4096\n');
    write('riders', '# who rides\ndatastore: riders\nshards: 1\n');
    expect(loadDefinitions(folder.path)).toEqual({
      datastores: [
        { name: 'riders', shards: 1, indexes: [], triggers: [] },
        { name: 'trips', shards: 4096, indexes: [], triggers: [] },
      ],
    });
  });

  it('reads how long cells are kept', () => {
    write(
      'trips',
      [
        'datastore: trips',
        'shards: 1',
        'retention:',
        '  - { column: STATUS, keep_versions: 10 }',
        "  - { column: '*', keep_for: 90d, keep_versions: 1000 }",
        '',
      ].join('\n'),
    );
    expect(loadDefinitions(folder.path).datastores[0]?.retention).toEqual([
      { column: 'STATUS', keepVersions: 10 },
      { column: '*', keepVersions: 1000, keepForMs: 90 * 86_400_000 },
    ]);
  });

  it.each([
    ['no bound', '- { column: A }', /keep_versions or keep_for/u],
    ['no column', '- { keep_versions: 1 }', /column: wanted/u],
    ['no versions', '- { column: A, keep_versions: 0 }', /keep_versions: wanted a whole number from 1 to 1000.*got 0/u],
    ['too many versions', '- { column: A, keep_versions: 1001 }', /from 1 to 1000.*got 1001/u],
    ['a time without a unit', '- { column: A, keep_for: 90 }', /keep_for: wanted a time from 1s to 36500d.*got 90/u],
    ['too short a time', '- { column: A, keep_for: 500ms }', /keep_for: wanted a time from 1s/u],
    ['a column twice', '- { column: A, keep_versions: 1 }\n  - { column: A, keep_for: 1d }', /A/u],
    ['a rule that is none', '- A', /a mapping of column/u],
    ['a key that is not known', '- { column: A, keep_version: 1 }', /keep_version/u],
    [
      'more rules than a log can be read by',
      Array.from({ length: 51 }, (_unused, rule) => `- { column: A${rule}, keep_versions: 1 }`).join('\n  '),
      /retention: wanted a list of up to 50 rules/u,
    ],
    ['a name that cannot be erased', `- { column: ${'A'.repeat(255)}, keep_versions: 1 }`, /254 bytes/u],
  ])('refuses a retention with %s', (_, rules, message) => {
    write('trips', `datastore: trips\nshards: 1\nretention:\n  ${rules}\n`);
    expect(problemsOf()).toContainEqual({
      file: join('trips', 'datastore.yaml'),
      line: expect.any(Number),
      message: expect.stringMatching(message),
    });
  });

  it('reads what the project itself has', () => {
    const { datastores } = loadDefinitions(join(import.meta.dirname, '../../../infra/datastores'));
    expect(datastores.map(({ name }) => name)).toEqual(['smoke', 'trips']);
    const trips = datastores.find(({ name }) => name === 'trips');
    expect(trips).toMatchObject({ name: 'trips', shards: 4096 });
    expect(trips?.indexes.map(({ name, fields }) => [name, fields[0]?.field])).toEqual([
      ['driver_partner_index', 'driver_partner_uuid'],
      ['pickup_zone_index', 'PULocationID'],
      ['rider_index', 'rider_uuid'],
    ]);
  });

  it.each([
    [
      'a key that is not known',
      'datastore: trips\nshards: 1\nshard: 2\n',
      3,
      /unknown key "shard".*datastore, shards/u,
    ],
    ['no shards', 'datastore: trips\n', 1, /shards: wanted a whole number from 1 to 65536, got nothing/u],
    ['shards that are text', 'datastore: trips\nshards: many\n', 2, /got "many"/u],
    ['shards that are a fraction', 'datastore: trips\nshards: 1.5\n', 2, /got 1\.5/u],
    ['no shard', 'datastore: trips\nshards: 0\n', 2, /got 0/u],
    ['too many shards', 'datastore: trips\nshards: 65537\n', 2, /got 65537/u],
    ['a bad name', 'datastore: Trips\nshards: 1\n', 1, /datastore: wanted a name .*, got "Trips"/u],
    [
      'another name than the folder',
      'shards: 1\ndatastore: rides\n',
      2,
      /wanted "trips", the name of its folder, got "rides"/u,
    ],
    ['broken YAML', 'datastore: trips\nshards: [1\n', 3, /./u],
    ['a key twice', 'datastore: trips\nshards: 1\nshards: 2\n', 3, /unique/u],
    ['no mapping', '- trips\n', 1, /wanted a mapping/u],
    ['nothing', '', 1, /wanted a mapping/u],
  ])('refuses %s, with its line', (_, text, line, message) => {
    write('trips', text);
    expect(problemsOf()).toEqual([
      { file: join('trips', 'datastore.yaml'), line, message: expect.stringMatching(message) },
    ]);
  });

  it('names every problem of every file at once', () => {
    write('riders', 'datastore: Riders\nshards: 0\n');
    write('trips', 'datastore: trips\nshards: 1\ncolour: blue\n');
    mkdirSync(join(folder.path, 'empty'));
    expect(problemsOf().map(({ file, line }) => `${file}:${line}`)).toEqual([
      'empty/datastore.yaml:0',
      'riders/datastore.yaml:1',
      'riders/datastore.yaml:2',
      'trips/datastore.yaml:3',
    ]);
    expect(() => loadDefinitions(folder.path)).toThrow(
      /^4 problems in the definitions in .*\n {2}empty\/datastore\.yaml: .*\n {2}riders\/datastore\.yaml:1: /u,
    );
  });

  it('refuses two datastores of one name', () => {
    write('a', 'datastore: trips\nshards: 1\n');
    write('trips', 'datastore: trips\nshards: 1\n');
    expect(problemsOf()).toContainEqual({
      file: join('trips', 'datastore.yaml'),
      line: 1,
      message: `datastore trips is defined in ${join('a', 'datastore.yaml')} already`,
    });
  });

  it('refuses a folder without datastores, and one that is not there', () => {
    expect(problemsOf()).toEqual([{ file: '.', line: 0, message: 'wanted at least one datastore, got none' }]);
    expect(() => loadDefinitions(join(folder.path, 'nowhere'))).toThrow(/nowhere: wanted a folder of datastores/u);
  });
});

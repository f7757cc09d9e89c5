import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { loadDefinitions } from '../../../shared/definitions/load-definitions.ts';
import { definitionsFolder } from './definitions-folder.ts';

const folder = definitionsFolder();
const write = (name: string, text: string): void => folder.write(`${name}/datastore.yaml`, text);
const TRIPS = 'datastore: trips\nshards: 1\n';

describe('loadDefinitions', () => {
  it('reads every datastore, in the order of their names', () => {
    write('trips', 'datastore: trips\nshards: 4096\n');
    write('riders', '# the riders\ndatastore: riders\nshards: 1\n');
    expect(folder.load()).toEqual([
      { name: 'riders', shards: 1, indexes: [], triggers: [] },
      { name: 'trips', shards: 4096, indexes: [], triggers: [] },
    ]);
  });

  it('reads how long cells are kept', () => {
    const rules = ['{ column: STATUS, keep_versions: 10 }', "{ column: '*', keep_for: 90d, keep_versions: 1000 }"];
    write('trips', `${TRIPS}retention:\n${rules.map((rule) => `  - ${rule}\n`).join('')}`);
    expect(folder.load()[0]?.retention).toEqual([
      { column: 'STATUS', keepVersions: 10 },
      { column: '*', keepVersions: 1000, keepForMs: 90 * 86_400_000 },
    ]);
  });

  const tooMany = Array.from({ length: 51 }, (_, rule) => `- { column: A${rule}, keep_versions: 1 }`).join('\n  ');
  it.each([
    ['- { column: A }', /keep_versions or keep_for/u],
    ['- { keep_versions: 1 }', /column: wanted/u],
    ['- { column: A, keep_versions: 0 }', /keep_versions: wanted a whole number from 1 to 1000.*got 0/u],
    ['- { column: A, keep_versions: 1001 }', /from 1 to 1000.*got 1001/u],
    ['- { column: A, keep_for: 90 }', /keep_for: wanted a time from 1s to 36500d.*got 90/u],
    ['- { column: A, keep_for: 500ms }', /keep_for: wanted a time from 1s/u],
    ['- { column: A, keep_versions: 1 }\n  - { column: A, keep_for: 1d }', /A/u],
    ['- A', /a mapping of column/u],
    ['- { column: A, keep_version: 1 }', /keep_version/u],
    [tooMany, /retention: wanted a list of up to 50 rules/u],
    [`- { column: ${'A'.repeat(255)}, keep_versions: 1 }`, /254 bytes/u],
  ])('refuses the retention %.60s', (rules, message) => {
    write('trips', `${TRIPS}retention:\n  ${rules}\n`);
    expect(folder.problems()).toContainEqual({
      file: 'trips/datastore.yaml',
      line: expect.any(Number),
      message: expect.stringMatching(message),
    });
  });

  it('reads the definitions of the project itself', () => {
    const { datastores } = loadDefinitions(join(PROJECT_ROOT, 'infra/datastores'));
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
    [`${TRIPS}shard: 2\n`, 3, /unknown key "shard".*datastore, shards/u],
    ['datastore: trips\n', 1, /shards: wanted a whole number from 1 to 65536, got nothing/u],
    ['datastore: trips\nshards: many\n', 2, /got "many"/u],
    ['datastore: trips\nshards: 1.5\n', 2, /got 1\.5/u],
    ['datastore: trips\nshards: 0\n', 2, /got 0/u],
    ['datastore: trips\nshards: 65537\n', 2, /got 65537/u],
    ['datastore: Trips\nshards: 1\n', 1, /datastore: wanted a name .*, got "Trips"/u],
    ['shards: 1\ndatastore: rides\n', 2, /wanted "trips", the name of its folder, got "rides"/u],
    ['datastore: trips\nshards: [1\n', 3, /./u],
    [`${TRIPS}shards: 2\n`, 3, /unique/u],
    ['- trips\n', 1, /wanted a mapping/u],
    ['', 1, /wanted a mapping/u],
  ])('refuses %j, with line %i', (text, line, message) => {
    write('trips', text);
    expect(folder.problems()).toEqual([
      { file: 'trips/datastore.yaml', line, message: expect.stringMatching(message) },
    ]);
  });

  it('names every problem of every file at once', () => {
    write('riders', 'datastore: Riders\nshards: 0\n');
    write('trips', `${TRIPS}colour: blue\n`);
    mkdirSync(join(folder.path, 'empty'));
    expect(folder.problems().map(({ file, line }) => `${file}:${line}`)).toEqual([
      'empty/datastore.yaml:0',
      'riders/datastore.yaml:1',
      'riders/datastore.yaml:2',
      'trips/datastore.yaml:3',
    ]);
    expect(() => folder.load()).toThrow(
      /^4 problems in the definitions in .*\n {2}empty\/datastore\.yaml: .*\n {2}riders\/datastore\.yaml:1: /u,
    );
  });

  it('refuses two datastores of one name', () => {
    write('a', TRIPS);
    write('trips', TRIPS);
    const message = 'datastore trips is defined in a/datastore.yaml already';
    expect(folder.problems()).toContainEqual({ file: 'trips/datastore.yaml', line: 1, message });
  });

  it('refuses a folder without datastores, and one that does not exist', () => {
    expect(folder.problems()).toEqual([{ file: '.', line: 0, message: 'wanted at least one datastore, got none' }]);
    expect(() => loadDefinitions(join(folder.path, 'nowhere'))).toThrow(/nowhere: wanted a folder of datastores/u);
  });
});

import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { jsonSchemas } from '../../../infra/schemas/json-schemas.ts';

const SCHEMAS = join(PROJECT_ROOT, 'infra/schemas');

const ajv = new Ajv({ allErrors: true, strictTypes: false });
// @ts-expect-error -- its types describe the CommonJS form
addFormats(ajv);
const checks = new Map(Object.entries(jsonSchemas()).map(([name, text]) => [name, ajv.compile(JSON.parse(text))]));

/** Returns the errors of a YAML under a schema, by its file's name; none if it is valid. */
function faults(schema: string, text: string): readonly string[] {
  const validate = checks.get(schema);
  if (!validate) throw new Error(`no schema ${schema}`);
  return validate(parse(text))
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

function read(path: string): string {
  return readFileSync(join(PROJECT_ROOT, path), 'utf8');
}

const DATASTORES = globSync('infra/datastores/**/*.yaml', { cwd: PROJECT_ROOT }).sort();
/** Blocks of the documents that begin with the name of their file. */
const SHOWN = globSync('{README.md,infra/docs/**/*.md}', { cwd: PROJECT_ROOT }).flatMap((page) =>
  [...read(page).matchAll(/^```yaml\n# (infra\/datastores\/\S+\.yaml)\n(.*?)^```/gmsu)].map(
    ([, path = '', text = '']) => ({ path, text }),
  ),
);
const OF_TESTS = globSync(['test/**/{datastore,indexes/*,triggers/*}.yaml'], { cwd: PROJECT_ROOT });

/** By where the file is. */
function schemaOf(path: string): string {
  const kind = { indexes: 'index', triggers: 'trigger' }[basename(dirname(path))] ?? 'datastore';
  return `${kind}.schema.json`;
}

it('the files are what npm run schema writes', () => {
  expect(
    readdirSync(SCHEMAS)
      .filter((name) => name.endsWith('.json'))
      .sort(),
  ).toEqual(Object.keys(jsonSchemas()).sort());
  for (const [name, text] of Object.entries(jsonSchemas())) expect(read(`infra/schemas/${name}`), name).toBe(text);
});

it('every definition of the project and its documents names its schema', () => {
  expect(SHOWN).toHaveLength(6);
  expect(DATASTORES.length).toBeGreaterThan(9);
  for (const { path, text } of [...SHOWN, ...DATASTORES.map((path) => ({ path, text: read(path) }))]) {
    const [, named = ''] = /^# yaml-language-server: \$schema=(\S+)\n/u.exec(text) ?? [];
    expect(join(dirname(path), named), path).toBe(`infra/schemas/${schemaOf(path)}`);
  }
});

it('every definition of the project, its documents and its tests is valid', () => {
  expect(OF_TESTS.length).toBeGreaterThan(7);
  const all = [...SHOWN, ...[...DATASTORES, ...OF_TESTS].map((path) => ({ path, text: read(path) }))];
  for (const { path, text } of all) expect(faults(schemaOf(path), text), path).toEqual([]);
});

const INDEX = 'table: by_driver\ndatastore: trips\ncolumn_defs:\n  - column_key: BASE\n    fields:\n';
const FIELD = '      - { field: driver, type: UUID }\n';
const TRIGGER = 'trigger: bill\ndatastore: trips\n';
const COLUMNS = "columns: '*'\n";

it.each([
  ['datastore', 'datastore: trips\nshards: 1\n'],
  ['index', `${INDEX}      - { field: fare.total, type: number }\nkeys: []\n`],
  [
    'trigger',
    `${TRIGGER}columns: [BASE, ${'x'.repeat(255)}]\nstart: 2026-01-31T09:00:00+01:00\nmax_attempts: 1000\nretry_parked_every: never\n`,
  ],
  ['trigger', `${TRIGGER}${COLUMNS}function: functions/bill.ts\nmax_attempts: 100\nstart: now\ntimeout: 500ms\n`],
])('a good %s is valid (%#)', (kind, text) => {
  expect(faults(`${kind}.schema.json`, text)).toEqual([]);
});

it.each([
  ['datastore', 'a name in capitals', 'datastore: Trips\nshards: 1\n'],
  ['datastore', 'no shards', 'datastore: trips\n'],
  ['datastore', 'too many shards', 'datastore: trips\nshards: 65537\n'],
  ['datastore', 'half a shard', 'datastore: trips\nshards: 0.5\n'],
  ['datastore', 'a key that is not known', 'datastore: trips\nshards: 1\nshard: 2\n'],
  ['datastore', 'a list', '- trips\n'],
  ['index', 'no columns', 'table: by_driver\ndatastore: trips\n'],
  ['index', 'no fields', INDEX],
  ['index', 'a type that is not known', `${INDEX}      - { field: driver, type: uuid }\n`],
  ['index', 'a field without a type', `${INDEX}      - { field: driver }\n`],
  ['index', 'a query word', `${INDEX}      - { field: limit, type: integer }\n`],
  ['index', 'a path that leads to a prototype', `${INDEX}      - { field: fare.__proto__, type: integer }\n`],
  ['index', 'a path of 65 characters', `${INDEX}      - { field: ${'a'.repeat(65)}, type: integer }\n`],
  ['index', 'a key of a field that is not known', `${INDEX}      - { field: driver, type: UUID, size: 3 }\n`],
  ['index', 'an empty column name', `${INDEX.replace('BASE', "''")}${FIELD}`],
  ['index', 'a key of one field', `${INDEX}${FIELD}keys: [[city]]\n`],
  ['index', 'a key twice', `${INDEX}${FIELD}keys: [[a, b], [a, b]]\n`],
  ['trigger', 'no columns', TRIGGER],
  ['trigger', 'a column twice', `${TRIGGER}columns: [BASE, BASE]\n`],
  ['trigger', 'every column within a list', `${TRIGGER}columns: ['*']\n`],
  ['trigger', 'a column alone', `${TRIGGER}columns: BASE\n`],
  ['trigger', 'a function by an absolute path', `${TRIGGER}${COLUMNS}function: /bill.ts\n`],
  ['trigger', 'a start without a zone', `${TRIGGER}${COLUMNS}start: 2026-01-31T08:00:00\n`],
  ['trigger', 'a start by an added id', `${TRIGGER}${COLUMNS}start: 7\n`],
  ['trigger', 'too many attempts', `${TRIGGER}${COLUMNS}max_attempts: 1001\n`],
  [
    'trigger',
    'more attempts than a function may have',
    `${TRIGGER}${COLUMNS}function: functions/bill.ts\nmax_attempts: 101\n`,
  ],
  ['trigger', 'a time without a unit', `${TRIGGER}${COLUMNS}retry_parked_every: 10\n`],
  ['trigger', 'a call that never ends', `${TRIGGER}${COLUMNS}timeout: never\n`],
])('a %s with %s is not', (kind, _, text) => {
  expect(faults(`${kind}.schema.json`, text)).not.toEqual([]);
});

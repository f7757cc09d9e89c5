import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  recordSynthesis,
  synthesizedFrom,
  type SynthesisOrder,
} from '../../../../infra/local/template/synthesis-record.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { writeFiles } from '../../support/write-files.ts';

const folder = folderOfTests();
const at = (file: string): string => join(folder.path, file);
const context = { environment: 'local', shards: 16, datastores: at('datastores') };
const order: SynthesisOrder = { app: '/app.ts', context, folder: at('out') };
const READ = ['app/functions/one.ts', 'lib/node_modules/two/two.js'].map(at);
/** All that was written is older. */
const LATER = Date.parse('2999-01-01');
const isSynthesized = (wanted = order): boolean => synthesizedFrom(wanted) !== undefined;

// The inputs of an assembly, and the assembly.
writeFiles(folder.path, {
  'datastores/package.json': '{}',
  'datastores/shop/datastore.yaml': 'datastore: shop\nshards: 4\n',
  'app/functions/one.ts': 'export const one = 1;\n',
  'lib/node_modules/two/two.js': '2;',
  'out/template.json': '{}',
});
recordSynthesis(order, READ, LATER);

let undo: (() => void)[] = [];
beforeEach(() => {
  undo = [];
});
afterEach(() => {
  for (const one of undo) one();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Changes a file until the test ends; without a text it is removed. */
function change(file: string, text?: string): void {
  const made = file.split('/').map((_, depth, parts) => at(parts.slice(0, depth + 1).join('/')));
  const first = made.find((path) => !existsSync(path));
  const before = first === undefined ? readFileSync(at(file)) : undefined;
  undo.push(() => (before === undefined ? rmSync(first ?? '', { recursive: true }) : writeFileSync(at(file), before)));
  if (text === undefined) rmSync(at(file));
  else writeFiles(folder.path, { [file]: text });
}

it('is reused if its inputs are the same, whatever is built of a package of the project', () => {
  expect(isSynthesized()).toBe(true);
  change('datastores/dist/built.js', '');
  expect(isSynthesized()).toBe(true);
});

it.each<[string, string, string?]>([
  ['a source is changed', 'app/functions/one.ts', 'export const one = 2;\n'],
  ['a source goes', 'app/functions/one.ts'],
  ['a file next to a source may take its place', 'app/functions/one.js', ''],
  ['a file of a package is changed by hand', 'lib/node_modules/two/two.js', '3;'],
  ['a folder above a source says what its modules are', 'app/package.json', '{}'],
  ['a folder above a source says how it is compiled', 'app/tsconfig.json', '{}'],
  ['a package comes into a folder above a source', 'app/node_modules/new/index.js', ''],
  ['one of a scope does', 'lib/node_modules/@scope/new/index.js', ''],
  ['a definition is changed', 'datastores/shop/datastore.yaml', 'datastore: shop\nshards: 8\n'],
  ['a definition is added', 'datastores/shop/triggers/new.yaml', ''],
  ['something of it is gone', 'out/template.json'],
  ['something of it was cut off', 'out/template.json', ''],
  ['its record is gone', 'out/synthesis.json'],
  ['its record cannot be read', 'out/synthesis.json', '{'],
])('is rebuilt when %s', (_when, file, text) => {
  change(file, text);
  expect(isSynthesized()).toBe(false);
});

it('is rebuilt when a definition of a datastore called dist is added', () => {
  change('datastores/package.json');
  recordSynthesis(order, READ, LATER);
  change('datastores/dist/datastore.yaml', 'datastore: dist\n');
  expect(isSynthesized()).toBe(false);
  for (const one of undo.splice(0).reverse()) one();
  recordSynthesis(order, READ, LATER);
});

it('is rebuilt for another app, another flag, another Node, or other options of the bundler', () => {
  expect(isSynthesized({ ...order, app: '/other.ts' })).toBe(false);
  expect(isSynthesized({ ...order, context: { ...context, shards: 17 } })).toBe(false);
  vi.stubEnv('NODE_PATH', '/elsewhere');
  expect(isSynthesized()).toBe(false);
  vi.unstubAllEnvs();
  vi.spyOn(process, 'version', 'get').mockReturnValue('v24.99.0');
  expect(isSynthesized()).toBe(false);
});

it.each([
  ['a file was changed while it was made', 'app/functions/late.ts', '', 0],
  ['settings of the compiler come from a file that is not looked at', 'app/tsconfig.json', '{"extends":"a"}', LATER],
])('is not recorded when %s', (_when, file, text, startedAt) => {
  const elsewhere = { ...order, folder: at('elsewhere') };
  change('elsewhere/template.json', '{}');
  change(file, text);
  recordSynthesis(elsewhere, [...READ, at(file)], startedAt);
  expect(isSynthesized(elsewhere)).toBe(false);
});

it('is taken again when each of these changes is undone', () => expect(isSynthesized()).toBe(true));

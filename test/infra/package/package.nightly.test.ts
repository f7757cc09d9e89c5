import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { BROUGHT, ENTRIES, FUNCTIONS, MANIFEST, nodes, PACKAGE, packed, tsc, unpack } from './packed.ts';

interface BillOfMaterials {
  readonly components: readonly { readonly purl: string; readonly hashes?: readonly object[] }[];
}
const PROJECT = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'));

const CLIENT_BYTES = 18 * 1024;
/** Measured: 3,136. */
const INSTANTIATIONS = 5300;

const folder = folderOfTests().path;
/** With what the package names, and without anything. */
const [app, bare] = [join(folder, 'app'), join(folder, 'bare')];
let installed: string;

beforeAll(async () => {
  const file = await packed();
  installed = unpack(file, app, BROUGHT);
  unpack(file, bare, []);
}, 180_000);

const USE = `
import { openDatastore, defineDatastore, schemalessClient, SchemalessError, type Cell } from '@schemaless-store/schemaless';
const trips = schemalessClient({ url: ['http://a.test', 'http://b.test'], datastore: 'trips' });
const { cell } = await trips.getLatest({ row_key: 'a', column_name: 'BASE' });
export const latest: Cell | null = cell;
export const code = (error: unknown) => (error instanceof SchemalessError ? error.requestId : undefined);
// @ts-expect-error -- there is no such call
await trips.delete();
export { openDatastore, defineDatastore };
`;
const USE_ALL = `
${USE}
import { requestSigner } from '@schemaless-store/schemaless/sign';
import { consume, triggerHandler } from '@schemaless-store/schemaless/triggers';
import { defineModel, ModelError } from '@schemaless-store/schemaless/models';
const primary = { index: 'rates', shardOn: { hotel: 'integer' } } as const;
export const rate = await defineModel({ name: 'rate', datastore: trips, primary }).find({ hotel: 1 });
export const isConflict = (error: unknown) => error instanceof ModelError && error.code === "version_conflict";
export const signed = schemalessClient({ url: 'https://a.test', datastore: 'trips', sign: requestSigner('eu-west-1') });
export const handler = triggerHandler('bill_rider', async (rowKey, message, schemaless) => {
  await schemaless.putNext({ row_key: rowKey, column_name: 'STATUS', body: message.added_id });
});
// @ts-expect-error -- it is a number
triggerHandler('bill_rider', async (_rowKey, { added_id }) => added_id.length);
export const run = () => consume(handler);
import { SchemalessStore } from '@schemaless-store/schemaless/cdk';
export const storeOf = (...[scope]: ConstructorParameters<typeof SchemalessStore>) => new SchemalessStore(scope, 'Store', { datastores: 'datastores' });
`;

describe('the package', () => {
  it('holds what runs, types, the documents and its licence', () => {
    const wanted = [
      'LICENSE',
      MANIFEST.bin.schemaless,
      'README.md',
      'dist/openapi.json',
      'dist/schemas/index.schema.json',
      'dist/sbom.json',
    ];
    for (const file of wanted) expect(existsSync(join(installed, file)), file).toBe(true);
    const known = /^(?:dist\/.*(?:\.js|\.d\.ts|\.json)|README\.md|package\.json)$/u;
    expect(globSync('**/*.*', { cwd: installed }).filter((file) => !known.test(file))).toEqual([]);
    expect(JSON.parse(readFileSync(join(installed, 'dist/openapi.json'), 'utf8'))).toMatchObject({ openapi: '3.1.0' });
  });

  it.each([PACKAGE, FUNCTIONS])(
    'names each package that it was made of, with its hash, in a bill of materials: %s',
    async (source) => {
      const root = unpack(await packed(source), join(folder, basename(source)), []);
      const bill = JSON.parse(readFileSync(join(root, 'dist/sbom.json'), 'utf8')) as BillOfMaterials;
      expect(bill).toMatchObject({ bomFormat: 'CycloneDX' });
      const named = new Map(bill.components.map(({ purl, hashes = [] }) => [purl, hashes.length]));
      const wanted = Object.entries({ ...PROJECT.dependencies, ...MANIFEST.dependencies }).map(
        ([name, version]) => `pkg:npm/${name.replace('@', '%40')}@${String(version)}`,
      );
      expect(wanted.filter((purl) => !named.get(purl))).toEqual([]);
    },
  );

  it('has a client that is small, and needs nothing', async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [join(installed, 'dist/entries/index.js')],
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      write: false,
      metafile: true,
    });
    const bytes = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
    console.log(`the client: ${outputFiles[0]?.contents.length} bytes minified, ${bytes} zipped, of ${CLIENT_BYTES}`);
    expect(bytes).toBeLessThan(CLIENT_BYTES);
    const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
    expect(imported.filter((path) => !path.startsWith('node:'))).toEqual([]);
  });

  it.each([
    ['nodenext', { module: 'nodenext', types: ['node'], skipLibCheck: true }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler', types: ['node'], skipLibCheck: true }],
  ])('has types that say what is wrong, with %s', (_name, options) => {
    writeFileSync(join(app, 'use.ts'), USE_ALL);
    expect(tsc(app, options)).toBe('');
  });

  it('has types of the client that are whole, with those of browsers instead of Node', () => {
    writeFileSync(join(bare, 'use.ts'), USE);
    expect(tsc(bare, { module: 'nodenext', types: [], lib: ['es2023', 'dom'], skipLibCheck: false })).toBe('');
  });

  it('has types that name the shard field that a query lacks', () => {
    const output = (where: string): string => {
      const program = [
        "import { defineDatastore, openDatastore } from '@schemaless-store/schemaless';",
        "const indexes = { one: { shardOn: { rider: 'UUID' }, fields: { city: 'string' } } } as const;",
        "const store = openDatastore(defineDatastore({ name: 'trips', columns: {}, indexes }), { url: '' });",
        `export const found = await store.query('one', { where: ${where} });`,
      ];
      writeFileSync(join(app, 'use.ts'), program.join('\n'));
      return tsc(app, { module: 'nodenext', types: ['node'], skipLibCheck: true });
    };
    expect(output("{ rider: '' }")).toBe('');
    expect(output("{ city: '' }")).toMatch(/Property 'rider' is missing .* but required in type 'ShardField</u);
    expect(output("{ rider: { gte: '' } }")).toContain("'gte' does not exist in type 'ShardFieldEquals<string>'");
  });

  it('has types that take the compiler little', () => {
    const measured = (source: string): number => {
      writeFileSync(join(app, 'use.ts'), source);
      const output = tsc(app, { module: 'nodenext', types: ['node'], skipLibCheck: true }, ['--extendedDiagnostics']);
      expect(output).not.toContain('error');
      return Number(/^Instantiations:\s+(\d+)$/mu.exec(output)?.[1]);
    };
    const columns = Array.from({ length: 10 }, (_, n) => `C${n}: column<{ a${n}: string; b: { c: number[] } }>()`);
    const fields = Array.from({ length: 7 }, (_, n) => `f${n + 1}: 'string'`);
    const before = [
      "import { defineDatastore, openDatastore, type MessageOf, type StandardSchema } from '@schemaless-store/schemaless';",
      'declare const column: <T>() => StandardSchema<T>;',
    ];
    const program = [
      ...before,
      `const trips = defineDatastore({ name: 'trips', columns: { ${columns.join(', ')} },`,
      `  indexes: { one: { shardOn: { f0: 'string' }, fields: { ${fields.join(', ')} } } }, triggers: { t: { columns: ['C1', 'C2'] } } });`,
      "const store = openDatastore(trips, { url: '' });",
      "await store.put({ row_key: '', column_name: 'C3', body: { a3: '', b: { c: [1] } } });",
      "export const a = (await store.getLatest({ row_key: '', column_name: 'C4' })).cell?.body.b.c;",
      "export const b = (await store.query('one', { where: { f0: 'x', f1: { gte: 'y' } }, fields: ['f2'] })).entries;",
      'for await (const { cell } of store.tail()) if (cell.column_name === "C5") console.log(cell.body.a5);',
      "export type M = MessageOf<typeof trips, 't'>;",
    ];
    const instantiations = measured(program.join('\n')) - measured([...before, 'export {};'].join('\n'));
    console.log(`the types of a datastore: ${instantiations} instantiations, of ${INSTANTIATIONS}`);
    expect(instantiations).toBeLessThan(INSTANTIATIONS);
  });
});

describe.each(nodes(20))('on Node $version', ({ path }) => {
  const run = (cwd: string, script: string): string =>
    execFileSync(path, ['--input-type=module', '-e', script], { cwd, encoding: 'utf8' });

  it('has entries that can be imported, and nothing else', () => {
    const names = ENTRIES.map((entry) => `${MANIFEST.name}${entry.slice(1)}`);
    const script = `for (const name of ${JSON.stringify(names)}) console.log(name, Object.keys(await import(name)).length > 0);`;
    expect(run(app, script).trim().split('\n')).toEqual(names.map((name) => `${name} true`));
    expect(() => run(app, "await import('@schemaless-store/schemaless/dist/shared/cell.js')")).toThrow(
      'ERR_MODULE_NOT_FOUND',
    );
  });

  it('has a command line', () => {
    const ask = (...args: string[]): string =>
      execFileSync(path, [join(installed, MANIFEST.bin.schemaless), ...args], { cwd: app, encoding: 'utf8' });
    expect(ask('--version').trim()).toBe(MANIFEST.version);
    writeFileSync(join(app, 'datastore.yaml'), 'datastore: trips\nshards: 16\n');
    expect(ask('check', '--help')).toContain('schemaless check');
  });

  it('has a client that runs without any other package, and writes integers of 64 bits', () => {
    const script = `
      import { schemalessClient } from '@schemaless-store/schemaless';
      const fetch = async (url, { body }) => { console.log(String(url), body); return Response.json({ outcome: 'stored', shard: 1, added_id: 2 }); };
      const trips = schemalessClient({ url: 'http://a.test', datastore: 'trips', fetch });
      const row_key = '6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0';
      console.log(await trips.put({ row_key, column_name: 'BASE', ref_key: 1, body: { n: 2n ** 64n - 1n } }));`;
    const output = run(bare, script);
    expect(output).toContain('/v1/trips/cells/6e3a0f9c-4d2b-4a86-9a41-0c7ce1b6a2f0/BASE/1 {"n":18446744073709551615}');
    expect(output).toContain("outcome: 'stored'");
  });
});

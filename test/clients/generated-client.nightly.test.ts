import { execFile } from 'node:child_process';
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { openApi } from '../../shared/api/openapi.ts';
import { folderOfTests } from '../infra/support/folder-of-tests.ts';
import { wholeStack } from '../support/whole-stack.ts';

const SOURCE = join(PROJECT_ROOT, 'test/clients/typescript');
/** The generators need a TypeScript that is older than the project's. */
const ofGenerator = createRequire(join(SOURCE, 'package.json'));
const ofProject = createRequire(join(PROJECT_ROOT, 'package.json'));

const folder = folderOfTests();
const stack = wholeStack();

async function run(script: string, parameters: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...parameters], { cwd: folder.path });
    return stdout;
  } catch (error) {
    throw new Error(`${Object(error).stdout}${Object(error).stderr}`, { cause: error });
  }
}

function binary(from: NodeJS.Require, name: string, file: string): string {
  return join(dirname(from.resolve(`${name}/package.json`)), file);
}

it.each([true, false])('a linter of API descriptions finds nothing in it (signed: %s)', async (isSigned) => {
  const file = join(folder.path, `openapi-${isSigned}.json`);
  writeFileSync(file, JSON.stringify(openApi({ isSigned })));
  const redocly = binary(ofProject, '@redocly/cli', 'bin/cli.js');
  await expect(run(redocly, ['lint', '--extends', 'recommended-strict', file])).resolves.toBe('');
});

/** npm gives this generator the project's TypeScript, which has no API that it could use. */
const OLDER_TYPESCRIPT = `data:text/javascript,import { registerHooks } from 'node:module';
  const typescript = '${pathToFileURL(ofGenerator.resolve('typescript')).href}';
  registerHooks({ resolve: (name, context, next) => next(name === 'typescript' ? typescript : name, context) });`;

/** Makes a client of `openapi.json`, by generator. */
const GENERATORS: Readonly<Record<string, () => Promise<string>>> = {
  'openapi-fetch': () =>
    run(binary(ofGenerator, 'openapi-typescript', 'bin/cli.js'), ['openapi.json', '-o', 'schema.d.ts']),
  'hey-api': () =>
    run('--import', [
      OLDER_TYPESCRIPT,
      binary(ofGenerator, '@hey-api/openapi-ts', 'dist/run.mjs'),
      '-i',
      'openapi.json',
      '-o',
      'hey-api',
    ]),
  orval: () => run(binary(ofGenerator, 'orval', 'dist/bin/orval.mjs'), ['--config', 'orval.config.mjs']),
};

it.each(Object.keys(GENERATORS))('a client generated from it compiles strictly and works: %s', async (name) => {
  const description = await (await fetch(`${stack().url}/v1/openapi.json`)).text();
  writeFileSync(join(folder.path, 'openapi.json'), description);
  const orval = {
    store: { input: 'openapi.json', output: { target: 'orval/store.ts', client: 'fetch', baseUrl: stack().url } },
  };
  writeFileSync(join(folder.path, 'orval.config.mjs'), `export default ${JSON.stringify(orval)}`);
  const program = `with-${name}.ts`;
  for (const file of ['calls.ts', program]) cpSync(join(SOURCE, file), join(folder.path, file));
  if (!existsSync(join(folder.path, 'node_modules')))
    symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ type: 'module' }));
  await GENERATORS[name]?.();

  const options =
    '--noEmit --strict --target esnext --types node --allowImportingTsExtensions --moduleResolution bundler';
  for (const from of [ofGenerator, ofProject])
    await run(binary(from, 'typescript', 'bin/tsc'), ['--module', 'esnext', ...options.split(' '), program]);

  // Some generators leave out the endings of files, which Node needs.
  const bundle = join(folder.path, `${name}.mjs`);
  await build({
    entryPoints: [join(folder.path, program)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: bundle,
  });
  expect(JSON.parse(await run(bundle, [stack().url]))).toEqual({ made: 21, others: [] });
});

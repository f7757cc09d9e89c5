import { execFile } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { openApi } from '../../shared/api/openapi.ts';
import { folderOfTests } from '../infra/support/folder-of-tests.ts';
import { wholeStack } from '../support/whole-stack.ts';

const SOURCE = join(PROJECT_ROOT, 'test/clients/typescript');
/** The generator wants a TypeScript that is older than the project's. */
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

it('a typed client generated from it compiles and works', async () => {
  const description = await (await fetch(`${stack().url}/v1/openapi.json`)).text();
  writeFileSync(join(folder.path, 'openapi.json'), description);
  await run(binary(ofGenerator, 'openapi-typescript', 'bin/cli.js'), ['openapi.json', '-o', 'schema.d.ts']);

  cpSync(join(SOURCE, 'use-store.ts'), join(folder.path, 'use-store.ts'));
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(folder.path, 'node_modules'));
  writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ type: 'module' }));
  const options = '--noEmit --strict --module nodenext --target esnext --types node --allowImportingTsExtensions';
  for (const from of [ofGenerator, ofProject])
    await run(binary(from, 'typescript', 'bin/tsc'), [...options.split(' '), 'use-store.ts']);

  const found = JSON.parse(await run(join(folder.path, 'use-store.ts'), [stack().url]));
  expect(found).toEqual({
    outcomes: ['stored', 'stored_before', 'conflict', 'stored', 'stored'],
    latest: 3,
    versions: [[1, 2], 2],
    found: 1,
    log: [1, 2, 3],
    trigger: 'running',
    wrong: [400, 'invalid_field'],
  });
});

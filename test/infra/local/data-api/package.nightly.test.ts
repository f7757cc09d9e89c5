import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { nodes, packInto, tsc } from '../../package/packed.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';
import { serverUrl, startCommand } from './started-command.ts';
import { callsOf, clientOf, failure, long, onlyRow, TARGET, text } from './with-data-api.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const PACKAGE = join(ROOT, 'infra/local/data-api');
const {
  name,
  bin,
  exports: { '.': entry },
  dependencies,
  devDependencies,
  engines,
} = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
const OLDEST = Number(/\d+/u.exec(engines.node)?.[0]);

const folder = folderOfTests().path;
/**
 * Of a project that has the package as npm would bring it: its packed files, and beside them what it names, nothing
 * else.
 */
const app = join(folder, 'app');
const installed = join(app, 'node_modules', name);

// Built outside of the project, so that nothing of it can be part of the package.
beforeAll(() => {
  const source = join(folder, 'source');
  cpSync(PACKAGE, source, { recursive: true, filter: (path) => !['node_modules', 'dist'].includes(basename(path)) });
  link([...Object.keys(dependencies), ...Object.keys(devDependencies), '.bin'], source);
  const file = packInto(folder, source);
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', file, '-C', installed, '--strip-components', '1']);
  // Its driver's types need those of Node, and npm brings them with it.
  link([...Object.keys(dependencies), '@types/node'], app);
}, 180_000);

/** Packages, as the project has them, for a folder. */
function link(names: readonly string[], into: string): void {
  for (const one of names) {
    const path = join(into, 'node_modules', one);
    mkdirSync(dirname(path), { recursive: true });
    const [own, shared] = [PACKAGE, ROOT].map((root) => join(root, 'node_modules', one));
    symlinkSync(String(own !== undefined && existsSync(own) ? own : shared), path);
  }
}

describe('the package', () => {
  it('holds what runs, its types, its page and its licence', () => {
    const files = globSync('**/*.*', { cwd: installed });
    const wanted = [bin[name], ...Object.values<string>(entry), 'README.md', 'package.json'].map((path) => join(path));
    expect(files).toEqual(expect.arrayContaining(wanted));
    expect(existsSync(join(installed, 'LICENSE'))).toBe(true);
    expect(files.filter((file) => !/^(?:dist\/[\w-]+(?:\.js|\.d\.ts)|README\.md|package\.json)$/u.test(file))).toEqual(
      [],
    );
  });

  it('has types that say what is wrong', () => {
    const program = `
import { DataApiException, startDataApi, type DataApi, type Limits } from '${name}';
const limits: Partial<Limits> = { rowBytes: Infinity };
export const api: DataApi = await startDataApi({ limits, clusters: (arn) => { if (arn === '') throw new DataApiException('ThrottlingException', 'x'); return undefined; } });
// @ts-expect-error -- there is no such limit
await startDataApi({ limits: { rows: 1 }, clusters: [] });
`;
    writeFileSync(join(app, 'use.mts'), program);
    expect(tsc(app, { module: 'nodenext', types: ['node'] })).toBe('');
  });
});

describe.each(nodes(OLDEST))('on Node $version', ({ path }) => {
  it('starts by its name, and answers the real client', async () => {
    const { child, url } = startCommand(path, join(installed, bin[name]), '--mysql', serverUrl(), '--port', '0');
    const endpoint = await url();
    const { client, run, begin, rollback } = callsOf(clientOf(endpoint), undefined);
    const answer = await run('SELECT :n + 1 AS n, :t AS t, NULL', {
      parameters: [long('n', 41), text('t', "it's")],
      includeResultMetadata: true,
    });
    expect(onlyRow(answer)).toEqual([{ longValue: 42 }, { stringValue: "it's" }, { isNull: true }]);
    expect(answer.columnMetadata?.[0]).toMatchObject({ label: 'n', isSigned: true });
    await expect(run('SELEC 1')).rejects.toMatchObject(failure('DatabaseErrorException'));
    const transactionId = await begin();
    await run('SELECT 1', { transactionId });
    await rollback(transactionId);
    // Numbers that JavaScript would round, and texts that look like them.
    const exact = '{"longValue":-9007199254740993}';
    const response = await fetch(`${endpoint}/Execute`, {
      method: 'POST',
      body: `${JSON.stringify({ ...TARGET, sql: "SELECT :n AS n, '9007199254740993n' AS t, 1.5e0 AS d" }).slice(0, -1)},"parameters":[{"name":"n","value":${exact}}]}`,
    });
    expect(await response.text()).toContain(`[${exact},{"stringValue":"9007199254740993n"},{"doubleValue":1.5}]`);
    client.destroy();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('can be imported', () => {
    const script = `const { startDataApi } = await import('${name}'); const api = await startDataApi({ clusters: [] }); console.log(api.url); await api.stop();`;
    expect(execFileSync(path, ['--input-type=module', '-e', script], { cwd: app, encoding: 'utf8' })).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\n$/u,
    );
  });
});

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { BeginTransactionCommand, ExecuteStatementCommand, RollbackTransactionCommand } from '@aws-sdk/client-rds-data';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverUrl, startCommand } from './started-command.ts';
import { clientOf, long, onlyRow, TARGET, text } from './with-data-api.ts';

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

const folder = mkdtempSync(join(tmpdir(), 'schemaless-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
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
  const env = { ...process.env, npm_config_offline: 'true', npm_config_update_notifier: 'false' };
  // What the compiler has to say is shown.
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: source,
    env,
    stdio: ['ignore', 2, 2],
  });
  const [packed = ''] = globSync('*.tgz', { cwd: folder });
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed), '-C', installed, '--strip-components', '1']);
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

/** Ours, and the machine's own, which is often an older one. */
function nodes(): readonly { readonly version: string; readonly path: string }[] {
  const others = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'));
  const [other] = others.filter((path) => existsSync(path));
  return [process.execPath, ...(other === undefined ? [] : [other])]
    .map((path) => ({
      path: realpathSync(path),
      version: execFileSync(path, ['--version'], { encoding: 'utf8' }).trim(),
    }))
    .filter(
      ({ version }, place, all) =>
        Number(/\d+/u.exec(version)?.[0]) >= OLDEST && all.findIndex((one) => one.version === version) === place,
    );
}

describe('the package', () => {
  it('holds what runs, its types, its page and its licence', () => {
    const files = globSync('**/*.*', { cwd: installed });
    expect(files).toEqual(
      expect.arrayContaining(
        [bin[name], ...Object.values<string>(entry), 'README.md', 'package.json'].map((path) => join(path)),
      ),
    );
    expect(existsSync(join(installed, 'LICENSE'))).toBe(true);
    expect(files.filter((file) => !/^(?:dist\/[\w-]+(?:\.js|\.d\.ts)|README\.md|package\.json)$/u.test(file))).toEqual(
      [],
    );
  });

  it('has types that say what is wrong', { timeout: 60_000 }, () => {
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { module: 'nodenext', lib: ['es2023'], types: ['node'], strict: true, noEmit: true },
        files: ['use.mts'],
      }),
    );
    writeFileSync(
      join(app, 'use.mts'),
      [
        `import { DataApiException, startDataApi, type DataApi, type Limits } from '${name}';`,
        'const limits: Partial<Limits> = { rowBytes: Infinity };',
        "export const api: DataApi = await startDataApi({ limits, clusters: (arn) => { if (arn === '') throw new DataApiException('ThrottlingException', 'x'); return undefined; } });",
        '// @ts-expect-error -- there is no such limit',
        'await startDataApi({ limits: { rows: 1 }, clusters: [] });',
      ].join('\n'),
    );
    expect(tsc(app)).toBe('');
  });
});

function tsc(folder: string): string {
  try {
    return execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
  } catch (error) {
    return String(Object(error).stdout);
  }
}

describe.each(nodes())('on Node $version', ({ path }) => {
  it('starts by its name, and answers the real client', async () => {
    const { child, url } = startCommand(path, join(installed, bin[name]), '--mysql', serverUrl(), '--port', '0');
    const endpoint = await url();
    const client = clientOf(endpoint);
    const answer = await client.send(
      new ExecuteStatementCommand({
        ...TARGET,
        sql: 'SELECT :n + 1 AS n, :t AS t, NULL',
        parameters: [long('n', 41), text('t', "it's")],
        includeResultMetadata: true,
      }),
    );
    expect(onlyRow(answer)).toEqual([{ longValue: 42 }, { stringValue: "it's" }, { isNull: true }]);
    expect(answer.columnMetadata?.[0]).toMatchObject({ label: 'n', isSigned: true });
    await expect(client.send(new ExecuteStatementCommand({ ...TARGET, sql: 'SELEC 1' }))).rejects.toMatchObject({
      name: 'DatabaseErrorException',
    });
    const { transactionId } = await client.send(new BeginTransactionCommand(TARGET));
    await client.send(new ExecuteStatementCommand({ ...TARGET, transactionId, sql: 'SELECT 1' }));
    await client.send(new RollbackTransactionCommand({ ...TARGET, transactionId }));
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

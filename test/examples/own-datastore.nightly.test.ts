import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, inject, test } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { folderOfTests } from '../infra/support/folder-of-tests.ts';
import { CopiedProject } from './copied-project.ts';

const PAGE = readFileSync(join(PROJECT_ROOT, 'infra/docs/own-datastore.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```\w+\n(.*?)^```/gmsu)].map(([, text = '']) => text);
/** Those that begin with a comment that names their file. */
const FILES = BLOCKS.flatMap((text) => {
  const [, path] = /^(?:#|\/\/) (\S+\.(?:yaml|ts))\n/u.exec(text) ?? [];
  return path === undefined ? [] : [{ path, text }];
});
const COMMANDS = BLOCKS.find((text) => text.includes('curl')) ?? '';

const folder = folderOfTests();
const project = new CopiedProject(join(folder.path, 'schemaless'));
const { kind } = inject('servers').engine;
const start = (): Promise<string> =>
  project.start(['--groups', '1', '--readers', '0', '--shards', '4', '--engine', kind]);

afterAll(() => project.stop());

/**
 * The commands up to the one that contains a text, with the port that the stack has here; returns what that one says.
 */
async function run(url: string, command: string): Promise<Record<string, unknown>> {
  const lines = COMMANDS.replaceAll('http://127.0.0.1:4000', url).split('\n');
  const variables = lines.filter((line) => /^[A-Z]+=/u.test(line));
  const wanted = lines.filter((line) => line.startsWith('curl') && line.includes(command));
  expect(wanted).toHaveLength(1);
  const { stdout } = await promisify(execFile)('bash', ['-euc', [...variables, ...wanted].join('\n')]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('the page leads to a datastore with an index and a trigger that runs', { timeout: 400_000 }, async () => {
  expect(FILES.map(({ path }) => path)).toEqual([
    'infra/datastores/shop/datastore.yaml',
    'infra/datastores/shop/indexes/buyer_index.yaml',
    'infra/datastores/shop/triggers/confirm_order.yaml',
    'functions/confirm-order.ts',
  ]);
  project.copy();
  await start();
  await project.stop();
  for (const { path, text } of FILES) {
    mkdirSync(dirname(join(project.path, path)), { recursive: true });
    writeFileSync(join(project.path, path), text);
  }
  const url = await start();
  // Two starts have left nothing behind in datastores that are the user's, where triggers would have been called for
  // it.
  for (const datastore of ['trips', 'shop']) {
    const { shards } = (await (await fetch(`${url}/v1/${datastore}/shards`)).json()) as {
      readonly shards: readonly { readonly head: number }[];
    };
    expect(shards.map(({ head }) => head)).toEqual([0, 0, 0, 0]);
  }

  expect(await run(url, '-X PUT')).toMatchObject({ outcome: 'stored', added_id: 1 });
  await expect.poll(() => run(url, '/indexes/')).toMatchObject({ entries: [{ fields: { total: 42.5 } }] });
  await expect
    .poll(() => run(url, '/CONFIRMATION'), { interval: 500 })
    .toMatchObject({ ref_key: 0, body: { sent: true, order: 1 } });
  expect(await run(url, '/triggers/')).toMatchObject({ trigger: 'confirm_order', state: 'running', parked: 0 });

  // A removed folder deletes no data; the start names the datastore.
  await project.stop();
  rmSync(join(project.path, 'infra/datastores/shop'), { recursive: true });
  const after = await start();
  expect(project.lines).toContain(
    'not defined any more: shop (4 shards). Its cells are kept, and requests do not find it. Define it again to serve it, or drop it: infra/docs/operations/runbook.md#dropping-a-retired-datastore',
  );
  expect(await run(after, '-X PUT')).toMatchObject({ code: 'unknown_datastore' });
});

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, expect, inject, test } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { folderOfTests } from '../infra/support/folder-of-tests.ts';

const PAGE = readFileSync(join(PROJECT_ROOT, 'infra/docs/own-datastore.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```\w+\n(.*?)^```/gmsu)].map(([, text = '']) => text);
/** Those that begin with a comment that names their file. */
const FILES = BLOCKS.flatMap((text) => {
  const [, path] = /^(?:#|\/\/) (\S+\.(?:yaml|ts))\n/u.exec(text) ?? [];
  return path === undefined ? [] : [{ path, text }];
});
const COMMANDS = BLOCKS.find((text) => text.includes('curl')) ?? '';

const folder = folderOfTests();
const project = join(folder.path, 'schemaless');
let running: ChildProcess | undefined;
let said: string[] = [];

afterAll(() => stop());

/** The project as somebody else has it, to whom its files belong. */
function copyProject(): void {
  for (const part of ['functions', 'infra', 'shared', 'package.json', 'cdk.json'])
    cpSync(join(PROJECT_ROOT, part), join(project, part), { recursive: true });
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(project, 'node_modules'));
}

/** `npm start`, small, without what it sets up; resolves with the URL once it is ready. */
async function start(): Promise<string> {
  const { kind } = inject('servers').engine;
  const options = ['--port', '0', '--groups', '1', '--readers', '0', '--shards', '4', '--engine', kind];
  running = spawn('npm', ['start', '--ignore-scripts', '--', ...options], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  said = [];
  running.stderr?.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  if (running.stdout) {
    for await (const line of createInterface(running.stdout)) {
      said.push(line);
      const [, url] = /^ready (\S+)$/u.exec(line) ?? [];
      if (url !== undefined) return url;
    }
  }
  throw new Error(`The stack did not start: ${said.join('\n')}`);
}

/** Tells npm alone, as a supervisor does. A stack that it left running would keep the next from its data. */
async function stop(): Promise<void> {
  const stopping = running;
  running = undefined;
  if (!stopping || stopping.exitCode !== null) return;
  const gone = new Promise((resolve) => stopping.once('exit', resolve));
  stopping.kill('SIGTERM');
  await gone;
}

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
  copyProject();
  await start();
  await stop();
  for (const { path, text } of FILES) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
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

  // Nobody's data goes because a folder did; the start names it.
  await stop();
  rmSync(join(project, 'infra/datastores/shop'), { recursive: true });
  const after = await start();
  expect(said).toContain(
    'not defined any more: shop (4 shards). Its cells are kept, and requests do not find it. Define it again to serve it, or drop it: infra/docs/operations/runbook.md#dropping-a-retired-datastore',
  );
  expect(await run(after, '-X PUT')).toMatchObject({ code: 'unknown_datastore' });
});

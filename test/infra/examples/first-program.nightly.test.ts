import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../../infra/app-context.ts';
import { consumerEnvironment } from '../../../infra/local/commands/consumer-environment.ts';
import { localStack } from '../../support/local-stack.ts';
import { BROUGHT, MANIFEST, packed, tsc, unpack } from '../package/packed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

vi.setConfig({ testTimeout: 240_000 });

const EXAMPLE = join(PROJECT_ROOT, 'infra/examples/first-program');
const STRICT = { module: 'nodenext', types: ['node'], skipLibCheck: true };
const run = promisify(execFile);
const folder = temporaryFolder();
const app = join(folder.path, 'app');
let installed: string;

beforeAll(async () => {
  installed = unpack(await packed(), app, [...BROUGHT, 'zod']);
  cpSync(EXAMPLE, app, { recursive: true });
});
const stack = localStack(folder);

it('some thirty lines write, read, query, follow and consume, in a datastore that was made a moment ago', async () => {
  expect(tsc(app, STRICT)).toBe('');
  const command = join(installed, MANIFEST.bin.schemaless);
  await run(process.execPath, [command, '--url', stack().url, 'apply', 'datastores'], { cwd: app });
  const env = { ...process.env, ...consumerEnvironment(stack().endpoints, 'notes') };
  const { stdout } = await run(process.execPath, ['program.ts'], { cwd: app, env });
  const page = readFileSync(join(EXAMPLE, 'README.md'), 'utf8');
  const shown = /```text\n(?<lines>.*?)```/su.exec(page)?.groups?.['lines'];
  // Words are counted while notes are followed.
  expect(stdout.split('\n').toSorted()).toEqual(shown?.split('\n').toSorted());
  const ofNotes = stdout.split('\n').filter((line) => /^(?:latest|found|tailed NOTE)/u.test(line));
  expect(ofNotes).toEqual(['latest 2 mended by now', 'found 1 5', 'tailed NOTE 1', 'tailed NOTE 2']);
});

describe('does not compile', () => {
  const program = readFileSync(join(EXAMPLE, 'program.ts'), 'utf8');

  it.each([
    ['with a misspelt column', "column_name: 'NOTE', ref_key: 1", "column_name: 'NOTES', ref_key: 1"],
    ['with a misspelt field', 'where: { author, stars', 'where: { author, star'],
    ['with a misspelt member of a body', "text: 'to be mended'", "txt: 'to be mended'"],
    ['with a misspelt trigger', "typeof notes, 'count_words'", "typeof notes, 'count_word'"],
    ['with a member that no body has', 'cell?.body.text', 'cell?.body.title'],
  ])('%s', (_what, right, wrong) => {
    expect(program).toContain(right);
    writeFileSync(join(app, 'program.ts'), program.replace(right, wrong));
    expect(tsc(app, STRICT)).toMatch(/program\.ts\(\d+,\d+\): error TS/u);
    writeFileSync(join(app, 'program.ts'), program);
  });
});

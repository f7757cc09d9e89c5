import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { sendCommand } from '../../../infra/local/control/control-client.ts';
import type { StackStatus } from '../../../infra/local/control/status.ts';
import { until } from '../../support/until.ts';
import { wholeStack } from '../../support/whole-stack.ts';
import { MANIFEST, tsc } from '../package/packed.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { COMPILED, installedExample } from './support/installed-example.ts';

vi.setConfig({ testTimeout: 240_000 });

const run = promisify(execFile);
const { project, example, shown } = installedExample('first-program', folderOfTests());
const stack = wholeStack();

it('some thirty lines write, read, query, follow and consume, in a datastore that was made a moment ago', async () => {
  const command = join(project, 'node_modules', MANIFEST.name, MANIFEST.bin.schemaless);
  const apply = [command, '--url', stack().url, 'apply', 'datastores'];
  const isApplied = (): Promise<boolean> =>
    run(process.execPath, apply, { cwd: example }).then(
      () => true,
      ({ stderr }) => !String(stderr).includes('yes, it is safe'),
    );
  await until('its datastore is made', isApplied);
  const { triggers, queues } = (await sendCommand(dirname(stack().functionLog), 'status')) as StackStatus;
  expect(triggers).toContainEqual(expect.objectContaining({ datastore: 'notes', summary: expect.any(Object) }));
  expect(queues.filter(({ name, visible }) => name.includes('--notes-') && visible === 0)).toHaveLength(2);
  const environment = join(project, '.env');
  const printed = await run(process.execPath, [
    command,
    '--url',
    stack().url,
    '-d',
    'notes',
    'triggers',
    'environment',
  ]);
  writeFileSync(environment, printed.stdout);
  const { stdout } = await run(process.execPath, [`--env-file=${environment}`, 'program.ts'], { cwd: example });
  // Words are counted while notes are followed.
  expect(stdout.split('\n').toSorted()).toEqual(shown().split('\n').toSorted());
  const ofNotes = stdout.split('\n').filter((line) => /^(?:latest|found|tailed NOTE)/u.test(line));
  expect(ofNotes).toEqual(['latest 2 fixed by now', 'found 1 5', 'tailed NOTE 1', 'tailed NOTE 2']);
});

describe('does not compile', () => {
  it.each([
    ['with a misspelt column', "column_name: 'NOTE', ref_key: 1", "column_name: 'NOTES', ref_key: 1"],
    ['with a misspelt field', 'where: { author, stars', 'where: { author, star'],
    ['with a misspelt member of a body', "text: 'to be fixed'", "txt: 'to be fixed'"],
    ['with a misspelt trigger', "typeof notes, 'count_words'", "typeof notes, 'count_word'"],
    ['with a member that no body has', 'cell?.body.text', 'cell?.body.title'],
  ])('%s', (_what, right, wrong) => {
    const file = join(example, 'program.ts');
    const program = readFileSync(file, 'utf8');
    expect(program).toContain(right);
    writeFileSync(file, program.replace(right, wrong));
    expect(tsc(project, COMPILED)).toMatch(/program\.ts\(\d+,\d+\): error TS/u);
    writeFileSync(file, program);
  });
});

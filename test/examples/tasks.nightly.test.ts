import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { PROJECT_ROOT } from '../../infra/app-context.ts';
import { USUAL_URL } from '../../infra/cli/target/choose-target.ts';
import { folderOfTests } from '../infra/support/folder-of-tests.ts';
import { CopiedProject } from './copied-project.ts';

/** A whole stack, sixteen moves, and a process for each command. */
vi.setConfig({ testTimeout: 900_000, hookTimeout: 600_000 });

const PAGE = readFileSync(join(PROJECT_ROOT, 'infra/docs/tasks.md'), 'utf8');
const MOST_WORDS = 2000;
const SCREEN_LINES = 25;
/** As `npm run sessions` records tables. */
const COLUMNS = 150;

const [INTRODUCTION = '', ...SECTIONS] = PAGE.split(/^(?=## )/mu);
const blocksOf = (section: string, language: string): readonly string[] =>
  [...section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gmsu'))].map(([, block = '']) => block);
const [START = '', DEFINITIONS = ''] = blocksOf(INTRODUCTION, 'sh');
const TASKS = SECTIONS.map((section) => ({
  section,
  title: /^## (.*)$/mu.exec(section)?.[1] ?? '',
  commands: blocksOf(section, 'sh').join(''),
  outputs: blocksOf(section, 'text').flatMap((block) => block.trimEnd().split('\n')),
}));

/** Commands that do not run here, by what they need. */
const SKIPPED = [
  { command: /^npx cdk (?:diff|deploy) .*$/gmu, needs: 'an AWS account' },
  { command: /^npm run smoke .*$/gmu, needs: 'a deployment on AWS' },
  { command: /^git (?:checkout|pull)\b.*$/gmu, needs: 'a clone with releases' },
];
const runnable = (commands: string): string =>
  SKIPPED.reduce((left, { command }) => left.replaceAll(command, ''), commands);

const folder = folderOfTests();
const project = new CopiedProject(join(folder.path, 'schemaless'));
let url = '';

beforeAll(async () => {
  project.copy();
  const [, flags = ''] = START.trim().split(' -- ');
  url = await project.start([...flags.split(' '), '--engine', inject('servers').engine.kind]);
});

afterAll(() => project.stop());

/** Types commands on a terminal. Returns the exit code and what the terminal shows. */
async function type(commands: string): Promise<{ readonly code: unknown; readonly output: string }> {
  // Without an account `preflight` judges nothing, and says so.
  const typed = commands.replaceAll(USUAL_URL, url).replaceAll(/^npm run preflight .*$/gmu, '$& || test $? = 2');
  writeFileSync(join(project.path, 'typed.sh'), `set -euo pipefail\n${DEFINITIONS}${typed}`);
  const command = `stty cols ${COLUMNS}; bash typed.sh`;
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: project.path,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [[code], output] = await Promise.all([once(child, 'close'), text(child.stdout)]);
  return { code, output: stripVTControlCharacters(output).replaceAll(/\r+\n?/gu, '\n') };
}

function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return {
    PATH,
    HOME,
    SHELL: '/bin/bash',
    TERM: 'xterm',
    NO_COLOR: '1',
    XDG_CONFIG_HOME: join(folder.path, 'config'),
    // Set-up would install dependencies under the tests that use them.
    npm_config_ignore_scripts: 'true',
    npm_config_update_notifier: 'false',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  };
}

/** Returns the shown lines that an output lacks, in order; `…` stands for any text. */
function missingOf(shown: readonly string[], output: string): readonly string[] {
  const lines = output.split('\n');
  let at = 0;
  return shown.filter((line) => {
    const words = line.trim().split(/\s+/u);
    const pattern = words
      .map((word) =>
        word
          .split('…')
          .map((part) => RegExp.escape(part))
          .join('.*'),
      )
      .join('\\s+');
    const found = lines.findIndex(
      (one, position) => position >= at && new RegExp(`^${pattern}$`, 'u').test(one.trim()),
    );
    if (found >= 0) at = found + 1;
    return found < 0;
  });
}

describe('the page', () => {
  it('has fifteen tasks in at most 2,000 words', () => {
    expect(TASKS.map(({ title }) => title)).toEqual([
      'Write and correct a record',
      'Read your own write from a reader',
      'Page through a query',
      'Import a CSV',
      'Add an index to existing data',
      'Write a trigger',
      'Look at a parked cell and retry it',
      'Add a group and move shards',
      'Restore a group to a point in time',
      'Erase a person',
      'Deploy',
      'Roll back',
      'Upgrade',
      'Watch lag',
      'Find a slow request',
    ]);
    expect(PAGE.split(/\s+/u).filter((word) => word !== '').length).toBeLessThanOrEqual(MOST_WORDS);
  });

  it.each(TASKS)('$title: commands first, a link, one screen', ({ section }) => {
    expect(section).toMatch(/^## [^\n]+\n\n```sh\n/u);
    expect(section).toMatch(/\]\([^)\s]+\.md\)/u);
    expect(section.trimEnd().split('\n').length).toBeLessThanOrEqual(SCREEN_LINES);
  });

  it('skips commands of three tasks', () => {
    expect(TASKS.filter(({ commands }) => runnable(commands) !== commands).map(({ title }) => title)).toEqual([
      'Deploy',
      'Roll back',
      'Upgrade',
    ]);
  });
});

describe('its commands, in order', () => {
  it.each(TASKS)('$title', async ({ commands, outputs }) => {
    const { code, output } = await type(runnable(commands));
    expect(code, output).toBe(0);
    expect(missingOf(outputs, output), output).toEqual([]);
  });
});

it('finds an output that is not there, or in another order', () => {
  expect(missingOf(['a  b', '… c'], 'x\na b\n1 c\n')).toEqual([]);
  expect(missingOf(['… c', 'a  b'], 'x\na b\n1 c\n')).toEqual(['a  b']);
  expect(missingOf(['a'], 'a b\n')).toEqual(['a']);
});

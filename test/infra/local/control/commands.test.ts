import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandsOf } from '../../../../infra/local/control/commands.ts';
import { writeSnapshot } from '../../../../infra/local/snapshots/snapshot.ts';
import { dataFolder } from '../../../../infra/local/stack/data-folder.ts';
import { rememberKeepCopies } from '../../../../infra/local/stack/keep-copies.ts';
import type { LocalStack } from '../../../../infra/local/stack/running-stack.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();
/** What was asked of a stack with two servers. */
const asked: string[] = [];
const note =
  (what: string) =>
  async (name?: unknown): Promise<void> =>
    void asked.push(name === undefined ? what : `${what} ${String(name)}`);
const service = (name: string) => ({
  url: '',
  kill: note(`kill ${name}`),
  resume: note(`resume ${name}`),
  close: note('close'),
  suffix: '',
});
const stack = {
  groups: { status: () => [{ node: 'group-1-a' }, { node: 'group-1-b' }], kill: note('kill'), resume: note('resume') },
  services: { dynamodb: service('dynamodb'), sqs: service('sqs') },
  tailers: { count: 1, set: note('tailers') },
  addGroup: note('add a group'),
} as unknown as LocalStack;
const commands = commandsOf(stack, '/nowhere');
const run = async (name: string, argument: string): Promise<unknown> => commands[name]?.(argument);

it('servers and services are killed and resumed by their names', async () => {
  for (const [name, target] of [
    ['kill', 'group-1-b'],
    ['kill', 'sqs'],
    ['resume', 'dynamodb'],
    ['resume', 'group-1-a'],
  ] as const)
    await run(name, target);
  expect(asked.splice(0)).toEqual(['kill group-1-b', 'kill sqs', 'resume dynamodb', 'resume group-1-a']);
});

it.each(['kill', 'resume'])('%s of something else names all that there is', async (name) => {
  await expect(run(name, 'dynamo')).rejects.toThrow(
    'node: wanted one of group-1-a, group-1-b, dynamodb, sqs, got "dynamo"',
  );
});

it.each([
  ['zero', '"zero"'],
  ['', '""'],
  ['-1', '"-1"'],
  ['1.5', '"1.5"'],
])('a count of tailers of %j is refused as it came', async (count, got) => {
  await expect(run('tailers', count)).rejects.toThrow(
    new RegExp(`^tailers: wanted an integer from 0 to \\d+, got ${got}$`, 'u'),
  );
  expect(asked).toEqual([]);
});

it('a count of tailers is handed on as a number', async () => {
  await run('tailers', '3');
  expect(asked.splice(0)).toEqual(['tailers 3']);
});

it('a group is added by the stack', async () => {
  await run('add-group', '');
  expect(asked.splice(0)).toEqual(['add a group']);
});

it('a group is not set back where it would not get back everything, unless that is said; another group is none', async () => {
  const data = join(folder.path, 'set-back');
  mkdirSync(data);
  const here = dataFolder(data);
  writeSnapshot(here, 'now', { taken_at: new Date().toISOString(), engine: 'mariadb', groups: { a: '1' }, tables: {} });
  const groups = { groups: [], setBack: async (group: string) => void asked.push(`set back ${group}`) };
  const setBack = async (argument: string) =>
    commandsOf({ ...stack, groups } as unknown as LocalStack, data)['set-back']?.(argument);
  await expect(setBack('b now')).rejects.toThrow('group: wanted one of a, got "b"');
  await expect(setBack('a now')).rejects.toThrow('a would lose cells: copies are kept for 0 minutes');
  expect(asked).toEqual([]);
  await setBack('a now force');
  rememberKeepCopies(here, 60);
  await setBack('a now');
  expect(asked.splice(0)).toEqual(['set back a', 'set back a']);
});

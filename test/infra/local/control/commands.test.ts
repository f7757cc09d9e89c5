import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandsOf } from '../../../../infra/local/control/commands.ts';
import { writeSnapshot } from '../../../../infra/local/snapshots/snapshot.ts';
import { dataFolder } from '../../../../infra/local/folder/data-folder.ts';
import { writeNumber } from '../../../../infra/local/folder/state-file.ts';
import type { LocalStack } from '../../../../infra/local/running/running-stack.ts';
import { folderOfTests } from '../../support/folder-of-tests.ts';

const folder = folderOfTests();
const asked: string[] = [];
const note =
  (what: string) =>
  async (name?: unknown): Promise<void> =>
    void asked.push(name === undefined ? what : `${what} ${String(name)}`);
const service = (name: string) => ({ kill: note(`kill ${name}`), resume: note(`resume ${name}`) });
const stack = {
  groups: { status: () => [{ node: 'group-1-a' }, { node: 'group-1-b' }], kill: note('kill'), resume: note('resume') },
  services: { dynamodb: service('dynamodb'), sqs: service('sqs') },
  tailers: { count: 1, set: note('tailers') },
  addGroup: note('add a group'),
} as unknown as LocalStack;
const commands = commandsOf(stack, '/nowhere');
const run = async (name: string, argument: string): Promise<unknown> => commands[name]?.(argument);

it.each([
  ['kill', 'group-1-b', 'kill group-1-b'],
  ['kill', 'sqs', 'kill sqs'],
  ['resume', 'dynamodb', 'resume dynamodb'],
  ['resume', 'group-1-a', 'resume group-1-a'],
  ['tailers', '3', 'tailers 3'],
  ['add-group', '', 'add a group'],
])('%s %s is done by the stack', async (name, argument, done) => {
  await run(name, argument);
  expect(asked.splice(0)).toEqual([done]);
});

const ALL = 'node: wanted one of group-1-a, group-1-b, dynamodb, sqs, got "dynamo"';
it.each([
  ['kill', 'dynamo', ALL],
  ['resume', 'dynamo', ALL],
  ...['zero', '', '-1', '1.5'].map((count): [string, string, RegExp] => [
    'tailers',
    count,
    new RegExp(`^tailers: wanted an integer from 0 to \\d+, got "${count}"$`, 'u'),
  ]),
])('%s %j is refused as it came', async (name, argument, message) => {
  await expect(run(name, argument)).rejects.toThrow(message);
  expect(asked).toEqual([]);
});

it('a group is not restored if it would lose cells, unless forced; an unknown group is refused', async () => {
  const data = join(folder.path, 'restore-group');
  mkdirSync(data);
  const here = dataFolder(data);
  writeSnapshot(here, 'now', { taken_at: new Date().toISOString(), engine: 'mariadb', groups: { a: '1' }, tables: {} });
  const groups = { groups: [], restore: async (group: string) => void asked.push(`restore ${group}`) };
  const restore = async (argument: string) =>
    commandsOf({ ...stack, groups } as unknown as LocalStack, data)['restore-group']?.(argument);
  await expect(restore('b now')).rejects.toThrow('group: wanted one of a, got "b"');
  await expect(restore('a now')).rejects.toThrow('a would lose cells: copies are kept for 0 minutes');
  expect(asked).toEqual([]);
  await restore('a now force');
  writeNumber(here.keepCopies, 60);
  await restore('a now');
  expect(asked.splice(0)).toEqual(['restore a', 'restore a']);
});

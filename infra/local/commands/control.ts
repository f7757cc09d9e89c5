/** Acts on a running stack, or deletes the data of a stopped one: `npm run local -- …`. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import type { RestoreResult } from '../control/commands.ts';
import type { StackStatus } from '../control/status.ts';
import { sendCommand } from '../control/control-client.ts';
import { showStatus } from '../control/show-status.ts';
import { showUsage, usageOf } from '../control/usage.ts';
import { listSnapshots, readSnapshot } from '../snapshots/snapshot.ts';
import { dataFolder, existingFolder } from '../folder/data-folder.ts';
import type { AddedGroup } from '../running/running-stack.ts';
import { dataFlag, wholeNumberFlag } from './flags.ts';
import { logsCommand } from './logs.ts';
import { lockFolder } from '../folder/folder-lock.ts';
import { stopOrphansBelow } from '../mysql/orphans.ts';
import { messageOf } from '../message-of.ts';

const program = new Command('npm run local --')
  .description('Control the local stack that npm start runs')
  .showHelpAfterError();
const command = (name: string, description: string): Command =>
  program.command(name).description(description).addOption(dataFlag());

command('status', 'show servers, functions, triggers and queues')
  .option('--json', 'as JSON')
  .action(async ({ data, json }: { data: string; json?: true }) => {
    const status = (await sendCommand(resolve(data), 'status')) as StackStatus;
    console.log(json ? JSON.stringify(status, undefined, 2) : showStatus(status));
  });

command('usage', 'show the disk, memory and processor time of each part of the stack')
  .addOption(wholeNumberFlag('--seconds <count>', 'for which to measure processor time', 1, 3600).default(10))
  .option('--json', 'as JSON')
  .action(async ({ data, seconds, json }: { data: string; seconds: number; json?: true }) => {
    const status = (await sendCommand(resolve(data), 'status')) as StackStatus;
    const usage = await usageOf(status, resolve(data), seconds);
    console.log(json ? JSON.stringify(usage, undefined, 2) : showUsage(usage));
  });

const act = (name: string, argument: string, done: string, description: string): Command =>
  command(`${name} <${argument}>`, description).action(async (target: string, { data }: { data: string }) => {
    await sendCommand(resolve(data), name, target);
    console.log(`${done} ${target}`);
  });

act(
  'kill',
  'node',
  'killed',
  'kill a server, as kill -9; `dynamodb` or `sqs`: the service is unavailable until it is resumed',
);
act('pause', 'node', 'paused', 'stop a server without ending it, as SIGSTOP');
act('resume', 'node', 'resumed', 'continue a paused server, or a killed service');
act('promote', 'group', 'promoted a reader of', 'make a reader of a group its writer');

command('add-group', 'start one more group: it takes hints, and shards of later datastores').action(
  async ({ data }: { data: string }) => {
    const { name, readers, groups } = (await sendCommand(resolve(data), 'add-group')) as AddedGroup;
    const servers = `a writer and ${readers === 1 ? '1 reader' : `${readers} readers`}`;
    console.log(`${name} is there, ${servers}: ${groups} groups; no shard has moved`);
  },
);

command('tailers <count>', 'set how many workers send cells to the triggers').action(
  async (count: string, { data }: { data: string }) => {
    await sendCommand(resolve(data), 'tailers', count);
    console.log(count === '1' ? '1 tailer' : `${count} tailers`);
  },
);

command('snapshot <name>', 'take a snapshot for `restore-group` and `restore`').action(
  async (name: string, { data }: { data: string }) =>
    console.log(`${name} is ${String(await sendCommand(resolve(data), 'snapshot', name))}`),
);

command('snapshots', 'list snapshots, the oldest first').action(({ data }: { data: string }) => {
  for (const { name, taken_at } of listSnapshots(dataFolder(resolve(data)))) console.log(`${taken_at}  ${name}`);
});

command(
  'restore-group <group> <snapshot>',
  'restore one group to a snapshot while the others serve; it gets back later cells that the others kept copies of',
)
  .option('--yes', 'do not ask')
  .option('--force', 'even if it would not get back every later cell')
  .action(async (group: string, snapshot: string, { data, yes, force }: { data: string; yes?: true; force?: true }) => {
    const { taken_at } = readSnapshot(dataFolder(resolve(data)), snapshot);
    if (yes !== true && !(await confirmed(`Restore ${group} to ${snapshot}, of ${taken_at}?`, 'restore-group')))
      throw new Error('nothing was done');
    const argument = `${group} ${snapshot}${force === true ? ' force' : ''}`;
    const { seconds, closed } = (await sendCommand(resolve(data), 'restore-group', argument)) as RestoreResult;
    console.log(
      closed === 0
        ? `${group} is back at ${snapshot}, has what the others kept copies of, and takes writes again, after ${seconds.toFixed(0)} s`
        : `${group} is back at ${snapshot}; ${closed} of its shards take no writes yet: npm run local -- logs --function drain-buffer says why`,
    );
  });

command('restore <snapshot>', 'restore a stopped stack to a snapshot; later cells are gone')
  .option('--yes', 'do not ask')
  .action(async (snapshot: string, { data, yes }: { data: string; yes?: true }) => {
    const { taken_at } = readSnapshot(existingFolder(resolve(data)), snapshot);
    if (yes !== true && !(await confirmed(`Restore everything in ${data} to ${snapshot}, of ${taken_at}?`, 'restore')))
      throw new Error('nothing was done');
    const { restoreStack } = await import('../snapshots/restore-stack.ts');
    await restoreStack(resolve(data), snapshot, (line) => console.log(line));
    console.log(`${data} is back at ${snapshot}; npm start runs it from there`);
  });

command('reset', 'delete the data of a stopped stack')
  .option('--yes', 'do not ask')
  .action(({ data, yes }: { data: string; yes?: true }) => reset(resolve(data), yes === true));

program.addCommand(logsCommand());

try {
  await program.parseAsync();
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}

async function reset(data: string, yes: boolean): Promise<void> {
  if (!existsSync(data)) return void console.log(`${data} is not there: nothing to delete`);
  existingFolder(data);
  const lock = lockFolder(data);
  try {
    if (!yes && !(await confirmed(`Delete everything in ${data}?`, 'reset')))
      return void console.log('nothing was deleted');
    await stopOrphansBelow(data);
    for (const name of readdirSync(data))
      if (name !== 'lock') rmSync(`${data}/${name}`, { recursive: true, force: true });
    console.log(`deleted the data in ${data}`);
  } finally {
    lock.release();
  }
  if (readdirSync(data).length === 0) rmSync(data, { recursive: true });
}

async function confirmed(question: string, command: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error(`${command}: wanted --yes, since there is no terminal to ask`);
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  return /^y(es)?$/iu.test(answer.trim());
}

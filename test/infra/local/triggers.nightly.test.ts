import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ListQueuesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLocalStack } from '../../../infra/local/stack/local-stack.ts';
import type { LocalStack } from '../../../infra/local/stack/running-stack.ts';
import { loadTriggers } from '../../../infra/local/stack/load-triggers.ts';
import type { LocalStackOptions } from '../../../infra/local/stack/local-stack-options.ts';
import { queueAt, sqsClient, texts, type FifoQueue } from '../support/fifo-queue.ts';
import { STAND_IN_PROJECT, STAND_INS } from '../support/synthesized.ts';
import { folderOfTests } from '../support/folder-of-tests.ts';
import { localCommand } from '../support/local-command.ts';
import { writeFiles } from '../support/write-files.ts';

const FILES = {
  'trips/datastore.yaml': 'datastore: trips\nshards: 4\n',
  'trips/triggers/charge_rider.yaml':
    'trigger: charge_rider\ndatastore: trips\ncolumns: [BASE]\nfunction: functions/charge-rider.ts\nstart: 0\n',
  'trips/triggers/slow_rider.yaml':
    'trigger: slow_rider\ndatastore: trips\ncolumns: [BASE]\nfunction: functions/slow-rider.ts\nstart: 0\n',
  'trips/triggers/broken.yaml':
    'trigger: broken\ndatastore: trips\ncolumns: [NONE]\nfunction: functions/broken.ts\nstart: 0\n',
  'trips/triggers/elsewhere.yaml': "trigger: elsewhere\ndatastore: trips\ncolumns: '*'\nstart: 0\n",
};

const folder = folderOfTests();
const datastores = join(folder.path, 'datastores');
const data = join(folder.path, 'data');
let stack: LocalStack;
let client: SQSClient;

async function start(more: Partial<LocalStackOptions> = {}): Promise<void> {
  stack = await startLocalStack({
    port: 0,
    data,
    groups: 1,
    readers: 0,
    shards: 4,
    restartAfterSeconds: 0,
    datastores,
    functionsFolder: STAND_INS,
    projectFolder: STAND_IN_PROJECT,
    ...more,
  });
  client = sqsClient(stack.endpoints.sqs);
}

async function stop(): Promise<void> {
  client?.destroy();
  await stack?.stop();
}

beforeAll(async () => {
  writeFiles(datastores, FILES);
  await start();
});
afterAll(() => stop());

/** The queue of a trigger, without the underscore of its name. */
function queueOf(trigger: string): FifoQueue {
  const found = stack.queues().find(({ name }) => new RegExp(`trips${trigger}queue`, 'u').test(name));
  if (!found)
    throw new Error(
      `no queue of ${trigger} among ${stack
        .queues()
        .map(({ name }) => name)
        .join(', ')}`,
    );
  return queueAt(client, found.url);
}

const log = (): string => readFileSync(stack.functionLog, 'utf8');
/** The slots that were started. */
const slots = (text = log()): readonly number[] =>
  [...text.matchAll(/tail-shards tailed \{"slot":(\d+)\}/gu)].map(([, slot]) => Number(slot)).sort();

const local = localCommand(data);

describe('the triggers of a local stack', () => {
  it('have their function called with the messages of their queue', async () => {
    await queueOf('chargerider').send('17:cell');
    await expect
      .poll(log)
      .toMatch(
        /trigger-trips-charge_rider charged \{"Records":\[\{"messageId":.*"body":"17:cell".*"MessageGroupId":"17"/u,
      );
    await expect.poll(() => queueOf('chargerider').count()).toEqual({ visible: 0, held: 0 });
  });

  it('whose function cannot be loaded are named at the start', async () => {
    expect(await loadTriggers(stack)).toEqual([
      expect.stringMatching(/^trigger broken of trips fails for every cell: .*no table of fares/u),
    ]);
  });

  it('are shown with their queues', async () => {
    await queueOf('elsewhere').send('3:kept', '4:kept');
    const { text } = await local('status');
    expect(text).toMatch(/^triggers, sent to by 1 tailer$/mu);
    expect(text).toMatch(/^trips\/charge_rider +not known: the API does not say$/mu);
    expect(text).toMatch(
      /tripschargeriderqueue\S+\.fifo +0 waiting, 0 held +calls trigger-trips-charge_rider, 0 now$/mu,
    );
    expect(text).toMatch(/tripselsewherequeue\S+\.fifo +2 waiting, 0 held$/mu);
  });

  it('go on where they were when SQS was away', async () => {
    expect(await local('kill', 'sqs')).toEqual({ code: 0, text: 'killed sqs\n' });
    expect((await local('status')).text).toMatch(/tripselsewherequeue\S+\.fifo +SQS is away$/mu);
    expect(await local('kill', 'sqs')).toEqual({ code: 1, text: 'sqs is away already\n' });
    expect(await local('resume', 'sqs')).toEqual({ code: 0, text: 'resumed sqs\n' });
    expect(await queueOf('elsewhere').count()).toEqual({ visible: 2, held: 0 });
    await queueOf('chargerider').send('17:after SQS was away');
    await expect.poll(log).toContain('"body":"17:after SQS was away"');
  });
});

describe('the tailers of a local stack', () => {
  it('are started as the template says, each with its slot', async () => {
    await expect.poll(() => slots()).toEqual([0]);
  });

  it('can be more or fewer from one moment to the next', async () => {
    expect(await local('tailers', '3')).toEqual({ code: 0, text: '3 tailers\n' });
    await expect.poll(() => slots()).toEqual([0, 1, 2]);
    expect(await local('tailers', '2')).toEqual({ code: 0, text: '2 tailers\n' });
    expect((await local('status')).text).toMatch(/^triggers, sent to by 2 tailers$/mu);
    expect(await local('tailers', '65')).toEqual({ code: 1, text: expect.stringMatching(/^tailers: .*from 0 to 64/u) });
    expect(await local('tailers', 'many')).toMatchObject({ code: 1 });
  });

  it('stay as many while DynamoDB is away, whose tables are there again after it', async () => {
    expect(await local('kill', 'dynamodb')).toEqual({ code: 0, text: 'killed dynamodb\n' });
    expect(await local('tailers', '1')).toMatchObject({ code: 1 });
    expect(await local('resume', 'dynamodb')).toEqual({ code: 0, text: 'resumed dynamodb\n' });
    expect(stack.tailers.count).toBe(2);
  });
});

describe('a local stack with triggers, stopped and started again', () => {
  it('lets the calls under way end, keeps what is queued, and has as many tailers as before', async () => {
    await queueOf('slowrider').send('1:slow');
    await expect.poll(log).toMatch(/slow_rider began$/mu);
    const before = log().length;
    await stop();
    expect(log()).toMatch(/slow_rider ended$/mu);

    await start();
    expect(texts(await queueOf('elsewhere').receive())).toEqual(['3:kept', '4:kept']);
    expect(await queueOf('slowrider').count()).toEqual({ visible: 0, held: 0 });
    await expect.poll(() => slots(log().slice(before))).toEqual([0, 1]);
  });

  it('has as many tailers as its start says, and holds nothing for those who are gone', async () => {
    await stop();
    const before = log().length;
    await start({ tailers: 1 });
    expect(stack.tailers.count).toBe(1);
    await expect.poll(() => slots(log().slice(before))).toEqual([0]);
    expect(await queueOf('elsewhere').count()).toEqual({ visible: 2, held: 0 });
  });

  it('deletes the queues of triggers that are not defined any more, as a deployment does, and says so', async () => {
    await stop();
    rmSync(join(datastores, 'trips/triggers/elsewhere.yaml'));
    const said: string[] = [];
    await start({ log: (line) => said.push(line) });
    const names = async (): Promise<string> =>
      ((await client.send(new ListQueuesCommand({}))).QueueUrls ?? []).join('\n');
    expect(await names()).not.toMatch(/tripselsewhere/u);
    expect(await names()).toMatch(/tripschargeriderqueue/u);
    expect(said.filter((line) => line.includes('elsewhere'))).toEqual([
      expect.stringMatching(/^deleted the queue \S+tripselsewhereparked\S+\.fifo, which is not defined any more$/u),
      expect.stringMatching(
        /^deleted the queue \S+tripselsewherequeue\S+\.fifo, which is not defined any more, with 2 messages$/u,
      ),
    ]);

    await stop();
    writeFileSync(join(datastores, 'trips/triggers/elsewhere.yaml'), FILES['trips/triggers/elsewhere.yaml']);
    await start();
    expect(await queueOf('elsewhere').count()).toEqual({ visible: 0, held: 0 });
  });
});

import { DeleteMessageBatchCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { triggerStore } from '../../../shared/triggers/state/dynamo-trigger-store.ts';
import { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { startTriggerStage } from '../../support/triggers/trigger-stage.ts';
import type { FaultRun } from '../fault-run.ts';
import { deliveryCheck, twoWays } from './part.ts';
import { Scene } from './scene.ts';

const SHARDS = 24;
/** For a thousand of them SQS takes three and a half days. */
const RECEIPTS = 3;
const GIVEN_UP = 40;
const EXPIRED = 30;
/** Longer than a run: the control's tailer is to look after nothing. */
const NEVER_MS = 3_600_000;

export const haltedRun: FaultRun = {
  name: 'halted',
  promise:
    'A trigger that was halted for longer than its queue keeps its messages delivers every cell, in log order within its shard',
  fault: `8 writers; a trigger halted while messages wait: SQS gives up on ${GIVEN_UP} or more after ${RECEIPTS} receipts, ${EXPIRED} expire`,
  control: 'it goes on from the newest cell that was sent',

  async run(world) {
    await using stage = await startTriggerStage(world, { groups: 1, readers: 0, shards: SHARDS });
    return await halt.carryOut({ world, stage });
  },
};

const halt = twoWays({
  name: 'halted',
  fault: haltedRun.fault,
  inTurn: true,
  async act(setting, name, looks) {
    const { world } = setting;
    await using scene = await Scene.start(setting, {
      name,
      receipts: RECEIPTS,
      definition: { function: 'functions/examples/bill-rider.ts' },
      // Slower than cells come, so that some wait when it is halted.
      consumer: { callMs: 120, pauseSeconds: 0 },
      tailers: [looks ? {} : { settings: { lagEveryMs: NEVER_MS } }],
    });
    const queues = sqsQueues(scene.store.sqs);
    const { queueUrl, parkedQueueUrl, datastore, trigger: halted } = scene.access;
    await scene.load(world.seconds ?? 6, 300);
    await scene.until('messages wait', async () => (await queues.depth(queueUrl)) >= GIVEN_UP + EXPIRED + SHARDS);
    await scene.operate((operations, trigger) => operations.pauseTrigger({ trigger }));
    await scene.until('SQS gives up on messages', async () => (await queues.depth(parkedQueueUrl)) >= GIVEN_UP);
    const expired = await expire(scene);
    await scene.stopWriters();
    const dead = await queues.depth(parkedQueueUrl);
    world.say(`${dead} given up, ${expired} expired; it is resumed`);

    if (looks) await scene.operate((operations, trigger) => operations.resumeTrigger({ trigger }));
    else await triggerStore(scene.store.stateTable, { datastore, trigger: halted }).resume();
    await scene.replaceConsumers({});
    const verdict = await scene.settle({ isReal: looks });
    await scene.end();
    return { verdict, dead, expired };
  },
  judge(real, control) {
    const what = 'cells, when the first of each shard had left the queue; control: the newest sent';
    return {
      checks: [deliveryCheck(what, real.verdict, control.verdict)],
      cells: real.verdict.due,
      notes: [
        `given up: ${real.dead}, expired: ${real.expired}, repeats: ${real.verdict.repeats}; control: ${control.dead}, ${control.expired}`,
      ],
    };
  },
});

/** What SQS does to messages whose time is over. */
async function expire(scene: Scene): Promise<number> {
  const { sqs } = scene.store;
  const { queueUrl: QueueUrl } = scene.access;
  let expired = 0;
  for (let tries = 0; expired < EXPIRED && tries < 100; tries += 1) {
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
    const Entries = Messages.map(({ ReceiptHandle }, item) => ({ Id: String(item), ReceiptHandle }));
    if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    expired += Messages.length;
    await scene.wait(0.02);
  }
  return expired;
}

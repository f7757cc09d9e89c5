import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { sqsTriggerQueues } from '../../../shared/triggers/state/sqs-trigger-queues.ts';
import { triggerStore } from '../../../shared/triggers/state/dynamo-trigger-store.ts';
import type { FaultRun, RunOutcome } from '../fault-run.ts';
import type { RunWorld } from '../../support/run-world.ts';
import type { DeliveryVerdict } from '../triggers/judge-deliveries.ts';
import { CONTROL_PATIENCE_MS, deliveryCheck } from '../triggers/part.ts';
import { Scene } from '../triggers/scene.ts';
import { startTriggerStage, type TriggerStage } from '../../support/triggers/trigger-stage.ts';

const GROUPS = 1;
const SHARDS = 24;
const SECONDS = 6;
const CELLS = 300;
/** For a thousand of them SQS takes three and a half days. */
const RECEIPTS = 3;
/** Slower than cells come, so that some wait when it is halted. */
const CALL_MS = 120;
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

  async run(world: RunWorld): Promise<RunOutcome> {
    await using stage = await startTriggerStage(world, { groups: GROUPS, readers: 0, shards: SHARDS });
    const real = await halt(world, stage, 'halted', true);
    const control = await halt(world, stage, 'halted_control', false);
    return {
      checks: [
        deliveryCheck(
          'cells, when the first of each shard had left the queue; control: the newest sent',
          real.verdict,
          control.verdict,
        ),
      ],
      cells: real.verdict.due,
      engine: stage.engine,
      notes: [
        `given up: ${real.dead}, expired: ${real.expired}, repeats: ${real.verdict.repeats}; control: ${control.dead}, ${control.expired}`,
      ],
    };
  },
};

/** @param looks whether the resume looks at the queue, and the tailer at what was given up */
async function halt(
  world: RunWorld,
  stage: TriggerStage,
  name: string,
  looks: boolean,
): Promise<{ readonly verdict: DeliveryVerdict; readonly dead: number; readonly expired: number }> {
  await using scene = await Scene.start(world, stage, {
    name,
    receipts: RECEIPTS,
    definition: { function: 'functions/examples/bill-rider.ts' },
    consumer: { callMs: CALL_MS, pauseSeconds: 0 },
    tailers: [looks ? {} : { settings: { lagEveryMs: NEVER_MS } }],
  });
  const queues = sqsTriggerQueues(scene.store.sqs);
  const { queueUrl, parkedQueueUrl } = scene.access;
  await scene.load(world.seconds ?? SECONDS, CELLS);
  await scene.until('messages wait', async () => (await queues.depth(queueUrl)) >= GIVEN_UP + EXPIRED + SHARDS);
  await scene.operate((operations, trigger) => operations.pauseTrigger(trigger));
  await scene.until('SQS gives up on messages', async () => (await queues.depth(parkedQueueUrl)) >= GIVEN_UP);
  const expired = await expire(scene, world);
  await scene.stopWriters();
  const dead = await queues.depth(parkedQueueUrl);
  world.say(`${dead} given up, ${expired} expired; it is resumed`);

  if (looks) await scene.operate((operations, trigger) => operations.resumeTrigger(trigger));
  else
    await triggerStore(scene.store.stateTable, {
      datastore: scene.access.datastore,
      trigger: scene.access.trigger,
    }).resume();
  await scene.replaceConsumers({});
  const verdict = await scene.settle(looks ? {} : { patienceMs: CONTROL_PATIENCE_MS });
  await scene.end();
  return { verdict, dead, expired };
}

/** What SQS does to messages whose time is over. */
async function expire({ store: { sqs }, access: { queueUrl } }: Scene, { signal }: RunWorld): Promise<number> {
  let expired = 0;
  for (let tries = 0; expired < EXPIRED && tries < 100; tries += 1) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
    );
    if (Messages.length > 0)
      await sqs.send(
        new DeleteMessageBatchCommand({
          QueueUrl: queueUrl,
          Entries: Messages.map(({ ReceiptHandle }, item) => ({ Id: String(item), ReceiptHandle })),
        }),
      );
    expired += Messages.length;
    await sleep(20, undefined, { signal });
  }
  return expired;
}

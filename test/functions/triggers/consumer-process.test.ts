import '../support/quiet.ts';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { CONSUMER_KEYS, readConfig } from '../../../functions/environment/config.ts';
import { runConsumer } from '../../../functions/triggers/consumer-process.ts';
import { writeTrigger } from '../../../shared/topology/trigger-catalogue.ts';
import { encodeMessage } from '../../../shared/triggers/state/queue-message.ts';
import {
  DATASTORE,
  depthOf,
  messageOf,
  newQueue,
  sendTo,
  startEmulators,
  TRIGGER,
  until,
  type Emulators,
} from '../../shared/triggers/consume/support/stage.ts';
import { deployTrigger, type DeployedForTest } from '../support/deployed-trigger.ts';

let emulators: Emulators;
let deployed: DeployedForTest;
beforeAll(async () => {
  emulators = await startEmulators();
  deployed = await deployTrigger(emulators);
});
afterAll(async () => {
  deployed.close();
  await emulators.stop();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it('a consumer in a plain process goes on with the queue of a deploy that replaced the one it polls', async () => {
  for (const [variable, value] of Object.entries(deployed.environment)) vi.stubEnv(variable, value);
  const called: number[] = [];
  const stopping = new AbortController();
  const ended = runConsumer({
    config: readConfig(CONSUMER_KEYS),
    trigger: TRIGGER,
    fn: (_rowKey, { added_id }) => void called.push(added_id),
    metrics: true,
    stopping: stopping.signal,
  });
  try {
    await sendTo(emulators.sqs, deployed.queueUrl, encodeMessage(messageOf(1, 1)), '1');
    await until('the first queue is consumed', () => called.length === 1, 20_000);
    const queueUrl = await newQueue(emulators.sqs);
    const definition = {
      name: TRIGGER,
      start: 'start',
      maxAttempts: 2,
      stopAfterParked: 100,
      timeoutSeconds: 5,
    } as const;
    await writeTrigger(deployed.topologyTable, DATASTORE, { definition, queueUrl, parkedQueueUrl: queueUrl });
    const { now } = performance;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 120_000);
    await sendTo(emulators.sqs, queueUrl, encodeMessage(messageOf(1, 2)), '1');
    await until(
      'the next queue is consumed',
      async () => called.length === 2 && (await depthOf(emulators.sqs, queueUrl)) === 0,
      40_000,
    );
    expect(called).toEqual([1, 2]);
  } finally {
    stopping.abort();
    await ended;
  }
}, 90_000);

import '../support/quiet.ts';
import { expect, it, vi } from 'vitest';
import { CONSUMER_KEYS, readConfig } from '../../../functions/environment/config.ts';
import { consumerOpener } from '../../../functions/triggers/open-consumer.ts';
import { writeTrigger } from '../../../shared/topology/trigger-catalogue.ts';
import { DATASTORE, TRIGGER } from '../../shared/triggers/consume/support/stage.ts';
import { triggerStage } from '../support/trigger-stage.ts';

const stage = await triggerStage();

it('a consumer is kept for as long as its trigger is deployed as it is, and what it knows with it', async () => {
  stage.stubEnvironment();
  const open = consumerOpener({
    config: readConfig(CONSUMER_KEYS),
    trigger: TRIGGER,
    fn: () => undefined,
    atOnce: 1,
    sqs: stage.sqs.client,
    report: () => undefined,
  });
  const first = await open();
  let passed = 0;
  const { now } = performance;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + passed);
  for (let minutes = 1; minutes <= 3; minutes += 1) {
    passed += 120_000;
    expect((await open()).consumer).toBe(first.consumer);
  }
  const { definition, queueUrl, parkedQueueUrl } = first.deployed;
  await writeTrigger(stage.deployed.topologyTable, DATASTORE, {
    definition: { ...definition, timeoutSeconds: 7 },
    queueUrl,
    parkedQueueUrl,
  });
  passed += 120_000;
  await open();
  await vi.waitFor(async () => expect((await open()).consumer.definition.timeoutSeconds).toBe(7), 10_000);
});

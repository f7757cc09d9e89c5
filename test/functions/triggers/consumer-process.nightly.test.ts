import '../support/quiet.ts';
import { expect, it, onTestFinished, vi } from 'vitest';
import { CONSUMER_KEYS, readConfig } from '../../../functions/environment/config.ts';
import { runConsumer } from '../../../functions/triggers/consumer-process.ts';
import { TRIGGER } from '../../shared/triggers/consume/support/stage.ts';
import { until } from '../../support/until.ts';
import { triggerStage } from '../support/trigger-stage.ts';

const stage = await triggerStage();

it('a consumer in a plain process goes on with the queue of a deploy that replaced the one it polls', async () => {
  stage.stubEnvironment();
  const called: number[] = [];
  const stopping = new AbortController();
  const ended = runConsumer({
    config: readConfig(CONSUMER_KEYS),
    trigger: TRIGGER,
    fn: (_rowKey, { added_id }) => void called.push(added_id),
    atOnce: 1,
    metrics: true,
    stopping: stopping.signal,
  });
  onTestFinished(() => {
    stopping.abort();
    return ended;
  });
  await stage.send(1, 1);
  await until('the first queue is consumed', () => called.length === 1);
  const queueUrl = await stage.deployNextQueue();
  const { now } = performance;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 120_000);
  await stage.send(1, 2, queueUrl);
  await until('the next queue is consumed', async () => called.length === 2 && (await stage.depth(queueUrl)) === 0);
  expect(called).toEqual([1, 2]);
});

import { expect, it, onTestFinished, vi } from 'vitest';
import type { sqsClient } from '../../../functions/environment/sqs.ts';
import type { TriggerDefinition } from '../../../shared/definitions/definitions.ts';
import type { appliedQueues } from '../../../shared/migrate/applied-queues.ts';
import type { sqsQueues } from '../../../shared/triggers/state/queues.ts';
import { loadBundle } from '../../support/load-bundle.ts';
import { startSqs } from '../../support/sqs.ts';

interface Bundle {
  readonly sqsClient: typeof sqsClient;
  readonly appliedQueues: typeof appliedQueues;
  readonly sqsQueues: typeof sqsQueues;
}

const TRIGGER: TriggerDefinition = {
  name: 'bill',
  start: 'start',
  maxAttempts: 5,
  stopAfterParked: 100,
  timeoutSeconds: 30,
};
const message = (item: number) => ({ body: `é \u{1f389} ${item}`, groupId: 'a', deduplicationId: `${item}` });

it('the client of SQS in the bundles makes, finds, fills, reads and deletes queues, and knows those that are gone', async () => {
  const sqs = await startSqs();
  onTestFinished(() => sqs.stop());
  for (const [name, value] of Object.entries({
    AWS_ENDPOINT_URL_SQS: sqs.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'AKIA',
    AWS_SECRET_ACCESS_KEY: 'secret',
  }))
    vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const bundle = await loadBundle<Bundle>(
    'functions/environment/sqs.ts',
    'shared/migrate/applied-queues.ts',
    'shared/triggers/state/queues.ts',
  );
  const client = bundle.sqsClient();
  onTestFinished(() => client.destroy());
  const applied = bundle.appliedQueues(client, 'dev');
  const queues = bundle.sqsQueues(client);
  expect(await applied.find('trips', 'bill')).toBeUndefined();
  const { queueUrl } = await applied.make('trips', TRIGGER, true);
  expect(await applied.find('trips', 'bill')).toMatchObject({ queueUrl });
  expect(await queues.send(queueUrl, [1, 2].map(message))).toEqual([undefined, undefined]);
  expect(await queues.depth(queueUrl)).toBe(2);
  const received = await queues.receive(queueUrl, 30);
  expect(received.map(({ body }) => body)).toEqual([1, 2].map((item) => message(item).body));
  expect(received.every(({ sentAt }) => sentAt > 0)).toBe(true);
  await queues.hide(queueUrl, received, 0);
  await queues.remove(queueUrl, await queues.receive(queueUrl, 30));
  expect(await queues.depth(queueUrl)).toBe(0);
  await applied.remove('trips', 'bill');
  await expect(queues.depth(queueUrl)).rejects.toThrow('queue does not exist');
});

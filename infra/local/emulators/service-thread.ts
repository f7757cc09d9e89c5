import { parentPort, workerData } from 'node:worker_threads';
import { startDynamoDb } from './dynamodb.ts';
import type { ServiceName } from './start-service.ts';
import { startSqs } from './sqs.ts';

/** What a thread is started with. */
export interface ServiceThreadData {
  readonly name: ServiceName;
  readonly folder: string;
  readonly port: number;
}

const STARTS = { dynamodb: startDynamoDb, sqs: startSqs };

const { name, folder, port } = workerData as ServiceThreadData;
const emulator = await STARTS[name](folder, port);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(emulator.url);
parentPort?.once('message', async () => {
  await emulator.close();
  parentPort?.close();
});

import { workerData } from 'node:worker_threads';
import type { RightsByKey } from '../iam/rights.ts';
import { startDynamoDb } from './dynamodb.ts';
import { releaseMessages, startSqs } from './sqs.ts';
import type { ServiceName } from './emulator.ts';
import { serveThread } from './serve-thread.ts';

export interface ServiceThreadData {
  readonly name: ServiceName;
  readonly folder: string;
  readonly port: number;
  /** The stack has just started: earlier receivers have gone. */
  readonly isFirst: boolean;
  /** The rights of functions from its first request on. */
  readonly rights: RightsByKey;
}

await serveThread(async (onRefused) => {
  const { name, folder, port, isFirst, rights } = workerData as ServiceThreadData;
  if (name === 'sqs' && isFirst) releaseMessages(folder);
  const emulator = await { dynamodb: startDynamoDb, sqs: startSqs }[name](folder, port, onRefused);
  await emulator.setRights(rights);
  return emulator;
});

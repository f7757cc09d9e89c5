import { parentPort, workerData } from 'node:worker_threads';
import { startDataApi } from '../data-api/data-api.ts';
import type { DataApiCluster } from '../data-api/logins.ts';

/** What the thread is started with. */
export interface RdsDataThreadData {
  readonly clusters: readonly DataApiCluster[];
}

const { clusters } = workerData as RdsDataThreadData;
const { url } = await startDataApi({ clusters });
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(url);

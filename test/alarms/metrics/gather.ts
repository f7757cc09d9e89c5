import { setTimeout as sleep } from 'node:timers/promises';
import { dataFolder } from '../../../infra/local/stack/data-folder.ts';
import type { LocalStack } from '../../../infra/local/stack/running-stack.ts';
import { functionMetrics } from './function-metrics.ts';
import { logLines } from './log-lines.ts';
import { takeFigures, takeRequest } from './logged-metrics.ts';
import type { MetricStore } from './metric-store.ts';
import { takeQueues } from './queue-metrics.ts';
import { takeServers } from './server-metrics.ts';

const EVERY_MS = 1000;
/** Queues and servers, of which AWS has a figure each minute. */
const ASK_EVERY_MS = 5000;

export interface Gathered {
  readonly stack: LocalStack;
  /** Its data. */
  readonly data: string;
  /** By what the dimension of its metrics names it. */
  readonly apiId: string;
}

/** Gathers what a running stack, and what AWS would, gives of figures, until the signal. */
export async function gather(store: MetricStore, { stack, data, apiId }: Gathered, signal: AbortSignal): Promise<void> {
  const folder = dataFolder(data);
  const [figures, requests] = [logLines(folder.metricLog), logLines(folder.requestLog)];
  const takeFunctions = functionMetrics(store);
  const quick = async (): Promise<void> => {
    for (const line of figures()) takeFigures(store, line);
    for (const line of requests()) takeRequest(store, apiId, line);
    takeFunctions(stack.functions.status(), Date.now());
  };
  const asked = async (): Promise<void> => {
    await Promise.all([
      takeQueues(store, stack.queues(), { url: stack.services.sqs.url, folder: folder.sqs }),
      takeServers(store, stack.groups),
    ]);
  };
  await Promise.all([again(quick, EVERY_MS, signal), again(asked, ASK_EVERY_MS, signal)]);
}

async function again(work: () => Promise<void>, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await work();
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import type { RunSlot } from '../shared/loops-at-once.ts';
import { runTailers } from '../shared/triggers/send/run-tailers.ts';
import { sqsQueues } from '../shared/triggers/state/queues.ts';
import { openStore } from './environment/deployment.ts';
import { tailReport } from './triggers/report-tailed.ts';
import { sqsClient } from './environment/sqs.ts';

/** Before the time limit: finishes a page and hands over. */
const TIME_TO_END_MS = 30_000;

/** Sends cells to the triggers' queues until the slot's next run takes over. */
export async function handler({ slot = 0 }: RunSlot, lambda: Context): Promise<void> {
  const { config, context, topologyTable, stateTable } = openStore('tailers');
  const sqs = sqsClient();
  const { report, flush } = tailReport();
  try {
    await runTailers({
      context,
      topologyTable,
      stateTable,
      queues: sqsQueues(sqs),
      owner: randomUUID(),
      slot,
      tailers: config.tailers,
      deadline: Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS,
      report,
    });
  } finally {
    flush();
    sqs.destroy();
  }
}

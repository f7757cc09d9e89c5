import type { Context } from 'aws-lambda';
import { randomUUID } from 'node:crypto';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { openContext, type StoreContext } from '../shared/access/context.ts';
import { runTailers } from '../shared/triggers/send/run-tailers.ts';
import { sqsQueues } from '../shared/triggers/state/queues.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { tailReport } from './triggers/report-tailed.ts';
import { sqsClient } from './environment/sqs.ts';

/** Before the function's time limit: enough to finish a page and hand over what is held. */
const TIME_TO_END_MS = 30_000;

/** What each schedule says. */
interface TailSlot {
  /** Which of the workers wished for this one is, from 0. @default 0 */
  readonly slot?: number;
}

let opened: StoreContext | undefined;

/**
 * Started every minute for each slot; sends cells to the queues of all triggers until the next run of its slot has
 * taken over.
 */
export async function handler({ slot = 0 }: TailSlot, lambda: Context): Promise<void> {
  const config = readConfig([...STORE_VARIABLES, 'tailers']);
  opened ??= openContext(deploymentOptions(config));
  const [dynamo, sqs] = [dynamoClient(), sqsClient()];
  const { report, flush } = tailReport();
  try {
    await runTailers({
      context: opened,
      topologyTable: { client: dynamo, table: config.topologyTable },
      stateTable: { client: dynamo, table: config.stateTable },
      queues: sqsQueues(sqs),
      owner: randomUUID(),
      slot,
      tailers: config.tailers,
      deadline: Date.now() + lambda.getRemainingTimeInMillis() - TIME_TO_END_MS,
      report,
    });
  } finally {
    flush();
    dynamo.destroy();
    sqs.destroy();
  }
}

import { TRIGGERS } from '../shared/api/triggers.ts';
import { sqsQueues } from '../shared/triggers/state/queues.ts';
import { triggerManagement, type TriggerManagement } from '../shared/triggers/manage/trigger-management.ts';
import { consumerEnvironment } from './environment/config.ts';
import { openStore } from './environment/deployment.ts';
import { answeredBy } from './http/answering.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { sqsClient } from './environment/sqs.ts';

export function makeTriggersHandler(open: () => TriggerManagement): HttpHandler {
  return httpHandler(
    TRIGGERS,
    answeredBy(TRIGGERS, (over: TriggerManagement, datastore) => over.triggers(datastore)),
    open,
  );
}

function open(): TriggerManagement {
  const { context, stateTable } = openStore();
  return triggerManagement({
    context,
    stateTable,
    queues: sqsQueues(sqsClient()),
    consumerEnvironment: consumerEnvironment(),
  });
}

export const handler = makeTriggersHandler(open);

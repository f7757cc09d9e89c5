import { TRIGGERS } from '../shared/api/triggers.ts';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { openContext } from '../shared/access/context.ts';
import { sqsQueues } from '../shared/triggers/state/queues.ts';
import { triggerManagement, type TriggerManagement } from '../shared/triggers/manage/trigger-management.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { answeredBy } from './http/answering.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { sqsClient } from './environment/sqs.ts';

export function makeTriggersHandler(management: () => TriggerManagement): HttpHandler {
  return httpHandler(
    TRIGGERS,
    answeredBy(TRIGGERS, (over: TriggerManagement, datastore) => over.triggers(datastore)),
    management,
  );
}

let opened: TriggerManagement | undefined;

function management(): TriggerManagement {
  const config = readConfig(STORE_VARIABLES);
  opened ??= triggerManagement({
    context: openContext(deploymentOptions(config)),
    stateTable: { client: dynamoClient(), table: config.stateTable },
    queues: sqsQueues(sqsClient()),
  });
  return opened;
}

export const handler = makeTriggersHandler(management);

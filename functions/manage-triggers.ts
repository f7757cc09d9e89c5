import { STORE_VARIABLES } from '../shared/environment.ts';
import { openContext } from '../shared/access/context.ts';
import { sqsQueues } from '../shared/triggers/state/queues.ts';
import { triggerManagement, type TriggerManagement } from '../shared/triggers/manage/trigger-management.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { discardDeadMessages, listDeadMessages, replayDeadMessages } from './http/operations/dead-messages.ts';
import { getTrigger, listTriggers } from './http/operations/list-triggers.ts';
import { discardParkedCells, listParkedCells, retryParkedCells } from './http/operations/parked-cells.ts';
import { pauseTrigger, resumeTrigger, rewindTrigger } from './http/operations/switch-trigger.ts';
import { sqsClient } from './environment/sqs.ts';

export function makeTriggersHandler(management: () => TriggerManagement): HttpHandler {
  return httpHandler<'manage-triggers', TriggerManagement>(
    {
      listTriggers,
      getTrigger,
      pauseTrigger,
      resumeTrigger,
      rewindTrigger,
      listParkedCells,
      retryParkedCells,
      discardParkedCells,
      listDeadMessages,
      replayDeadMessages,
      discardDeadMessages,
    },
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

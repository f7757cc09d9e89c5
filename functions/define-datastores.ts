import { DEFINITIONS } from '../shared/api/definitions.ts';
import { connectorOf } from '#connector';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { appliedQueues } from '../shared/migrate/applied-queues.ts';
import {
  definitionManagement,
  STATEMENT_MS,
  type DefinitionManagement,
} from '../shared/migrate/definition-management.ts';
import { sqsQueues } from '../shared/triggers/state/queues.ts';
import { readConfig } from './environment/config.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { sqsClient } from './environment/sqs.ts';
import { userLogins } from './environment/credentials.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { DEFINE } from './http/operations/apply-definitions.ts';

/** Routes that define datastores, indexes and triggers without a deployment. */
export function makeDefinitionsHandler(open: () => DefinitionManagement): HttpHandler {
  return httpHandler(DEFINITIONS, DEFINE, open);
}

function open(): DefinitionManagement {
  const config = readConfig([...STORE_VARIABLES, 'mostShards', 'canSeal']);
  const [dynamo, sqs] = [dynamoClient(), sqsClient()];
  return definitionManagement({
    topologyTable: { client: dynamo, table: config.topologyTable },
    stateTable: { client: dynamo, table: config.stateTable },
    connect: connectorOf(config.access).open(config, { statementMs: STATEMENT_MS }),
    logins: userLogins(config.databaseAuth, new SecretsManagerClient()),
    bufferCopies: config.bufferCopies,
    queues: appliedQueues(sqs, config.environment),
    depths: sqsQueues(sqs),
    mostShards: config.mostShards,
    canSeal: config.canSeal === 'true',
  });
}

export const handler = makeDefinitionsHandler(open);

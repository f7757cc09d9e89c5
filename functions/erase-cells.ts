import { openContext } from '../shared/access/context.ts';
import { KEY_VARIABLES, STORE_VARIABLES } from '../shared/environment.ts';
import { erasureManagement, type ErasureManagement } from '../shared/erasures/erasure-management.ts';
import { subjectManagement, type SubjectManagement } from '../shared/sealed/subject-management.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { keyStore } from './environment/root-key.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { eraseCells, getErasure, getRetention, listErasures } from './http/operations/erasures.ts';
import { forgetSubject, listForgotten } from './http/operations/subjects.ts';

type Forgetting = ErasureManagement & SubjectManagement;

export function makeErasuresHandler(management: () => Forgetting): HttpHandler {
  return httpHandler<'erase-cells', Forgetting>(
    { eraseCells, listErasures, getErasure, getRetention, forgetSubject, listForgotten },
    management,
  );
}

let opened: Forgetting | undefined;

function management(): Forgetting {
  opened ??= open();
  return opened;
}

function open(): Forgetting {
  const config = readConfig([...STORE_VARIABLES, ...KEY_VARIABLES, 'backupDays', 'keyDays']);
  const client = dynamoClient();
  const context = openContext(deploymentOptions(config));
  return {
    ...erasureManagement({
      context,
      topologyTable: { client, table: config.topologyTable },
      stateTable: { client, table: config.stateTable },
      backupDays: config.backupDays,
    }),
    ...subjectManagement({ topology: context.topology, keys: keyStore(config), keyDays: config.keyDays }),
  };
}

export const handler = makeErasuresHandler(management);

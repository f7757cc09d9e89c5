import { openContext } from '../shared/access/context.ts';
import { KEY_VARIABLES, STORE_VARIABLES } from '../shared/environment.ts';
import { erasureManagement, type ErasureManagement } from '../shared/erasures/erasure-management.ts';
import { subjectManagement, type SubjectManagement } from '../shared/sealed/subject-management.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { logger } from './environment/log.ts';
import { keyStore } from './environment/root-key.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { eraseCells, getErasure, listErasures } from './http/operations/erasures.ts';
import { getRetention, listHolds, purgeSpace, putHold, releaseHold } from './http/operations/retention.ts';

import { forgetSubject, getReceiptKey, listForgotten } from './http/operations/subjects.ts';

/** What is erased, and who is forgotten. */
type Forgetting = ErasureManagement & Omit<SubjectManagement, 'signed'>;

/** The routes of erasures, of retention and holds, and of subjects. */
export function makeErasuresHandler(management: () => Forgetting): HttpHandler {
  return httpHandler<'erase-cells', Forgetting>(
    {
      eraseCells,
      listErasures,
      getErasure,
      getRetention,
      listHolds,
      putHold,
      releaseHold,
      purgeSpace,
      getReceiptKey,
      forgetSubject,
      listForgotten,
    },
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
  const erasures = erasureManagement({
    context,
    topologyTable: { client, table: config.topologyTable },
    stateTable: { client, table: config.stateTable },
    backupDays: config.backupDays,
  });
  const subjects = subjectManagement({
    topology: context.topology,
    stateTable: { client, table: config.stateTable },
    keys: keyStore(config),
    keyDays: config.keyDays,
    unsigned: (error) => logger.warn('a record was not signed', { error }),
  });
  const { signed, ...further } = subjects;
  return {
    ...erasures,
    ...further,
    erasures: async (datastore, caller) => signed(datastore, await erasures.erasures(datastore, caller)),
  };
}

export const handler = makeErasuresHandler(management);

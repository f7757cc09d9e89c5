import { openContext } from '../shared/access/context.ts';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { erasureManagement, type ErasureManagement } from '../shared/erasures/erasure-management.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import { eraseCells, getErasure, listErasures } from './http/operations/erasures.ts';
import { getRetention, listHolds, purgeSpace, putHold, releaseHold } from './http/operations/retention.ts';

/** The routes of erasures, of retention and holds. */
export function makeErasuresHandler(management: () => ErasureManagement): HttpHandler {
  return httpHandler<'erase-cells', ErasureManagement>(
    { eraseCells, listErasures, getErasure, getRetention, listHolds, putHold, releaseHold, purgeSpace },
    management,
  );
}

let opened: ErasureManagement | undefined;

function management(): ErasureManagement {
  opened ??= open();
  return opened;
}

function open(): ErasureManagement {
  const config = readConfig([...STORE_VARIABLES, 'backupDays']);
  const client = dynamoClient();
  return erasureManagement({
    context: openContext(deploymentOptions(config)),
    topologyTable: { client, table: config.topologyTable },
    stateTable: { client, table: config.stateTable },
    backupDays: config.backupDays,
  });
}

export const handler = makeErasuresHandler(management);

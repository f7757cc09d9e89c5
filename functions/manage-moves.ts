import { openContext } from '../shared/access/context.ts';
import { STORE_VARIABLES } from '../shared/environment.ts';
import { moveManagement, type MoveManagement } from '../shared/moves/move-management.ts';
import { readConfig } from './environment/config.ts';
import { deploymentOptions } from './environment/deployment.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';
import {
  cancelMove,
  completeMove,
  createMove,
  getMove,
  listMoves,
  reverseMove,
  switchMove,
  verifyMove,
} from './http/operations/moves.ts';

/** The routes of moves of shards. */
export function makeMovesHandler(management: () => MoveManagement): HttpHandler {
  return httpHandler<'manage-moves', MoveManagement>(
    { listMoves, createMove, getMove, switchMove, reverseMove, completeMove, cancelMove, verifyMove },
    management,
  );
}

let opened: MoveManagement | undefined;

function management(): MoveManagement {
  opened ??= open();
  return opened;
}

function open(): MoveManagement {
  const config = readConfig(STORE_VARIABLES);
  const client = dynamoClient();
  return moveManagement({
    context: openContext(deploymentOptions(config)),
    topologyTable: { client, table: config.topologyTable },
    stateTable: { client, table: config.stateTable },
  });
}

export const handler = makeMovesHandler(management);

import { moveManagement, type MoveManagement } from '../shared/moves/move-management.ts';
import { dynamoTopology } from '../shared/topology/dynamo-topology.ts';
import { readConfig } from './environment/config.ts';
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
  const { topologyTable, stateTable } = readConfig(['topologyTable', 'stateTable']);
  const client = dynamoClient();
  return moveManagement({
    topology: dynamoTopology({ client, table: topologyTable }),
    topologyTable: { client, table: topologyTable },
    stateTable: { client, table: stateTable },
  });
}

export const handler = makeMovesHandler(management);

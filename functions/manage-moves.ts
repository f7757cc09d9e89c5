import { MOVES } from '../shared/api/moves.ts';
import { moveManagement, type MoveManagement } from '../shared/moves/move-management.ts';
import { dynamoTopology } from '../shared/topology/dynamo-topology.ts';
import { readConfig } from './environment/config.ts';
import { dynamoClient } from './environment/dynamo.ts';
import { answeredBy } from './http/answering.ts';
import { httpHandler, type HttpHandler } from './http/handler.ts';

export function makeMovesHandler(open: () => MoveManagement): HttpHandler {
  return httpHandler(
    MOVES,
    answeredBy(MOVES, (over: MoveManagement, datastore) => over.moves(datastore)),
    open,
  );
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

export const handler = makeMovesHandler(open);

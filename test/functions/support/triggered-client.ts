import type { TriggeredClient } from '../../../functions/triggers/trigger-handler.ts';
import { putNextOver } from '../../../shared/client/put-next.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';

export function triggeredClient(store: Datastore): TriggeredClient {
  const { get, getLatest: latest, row, put, query } = store;
  return { get, latest, row, put, putNext: putNextOver(store), query };
}

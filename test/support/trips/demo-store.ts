import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { TriggerOperations } from '../../../shared/api/triggers.ts';

export type DemoStore = Pick<
  Datastore,
  'put' | 'batchPut' | 'batchGet' | 'getLatest' | 'versions' | 'log' | 'heads' | 'query'
> &
  Pick<TriggerOperations, 'getTrigger' | 'listParkedCells' | 'retryParkedCells'>;

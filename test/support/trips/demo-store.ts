import type { Datastore } from '../../../shared/contract/datastore.ts';
import type { TriggerOperations } from '../../../shared/contract/trigger-operations.ts';

/** What the demo asks of a store. */
export type DemoStore = Pick<
  Datastore,
  'put' | 'batchPut' | 'batchGet' | 'getLatest' | 'versions' | 'log' | 'heads' | 'query'
> &
  Pick<TriggerOperations, 'trigger' | 'parkedCells' | 'retryParked'>;

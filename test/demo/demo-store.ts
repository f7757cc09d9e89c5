import type { Datastore } from '../../shared/store/datastore.ts';
import type { TriggerOperations } from '../../shared/trigger/trigger-operations.ts';

/** What the demo asks of a store. */
export type DemoStore = Pick<Datastore, 'put' | 'batchPut' | 'batchGet' | 'getLatest' | 'versions' | 'log' | 'heads' | 'query'> &
  Pick<TriggerOperations, 'trigger' | 'parkedCells' | 'retryParked'>;

import type { Datastore } from '../../shared/store/datastore.ts';

/** What the demo asks of a store. */
export type DemoStore = Pick<Datastore, 'put' | 'batchPut' | 'batchGet' | 'getLatest' | 'versions' | 'log' | 'heads' | 'query'>;

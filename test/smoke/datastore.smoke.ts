import { describeDatastore } from '../support/datastore-conformance.ts';
import { noteRequests, smokeStore } from './smoke-store.ts';

noteRequests();
const first = smokeStore();
describeDatastore('smoke', async () => ({ first }));

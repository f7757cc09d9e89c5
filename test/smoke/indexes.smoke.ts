import { describeIndexes } from '../support/index-conformance.ts';
import { noteRequests, smokeStore } from './smoke-store.ts';

noteRequests();
const store = smokeStore();
describeIndexes('smoke', async () => store);

import { afterAll, beforeAll } from 'vitest';
import { describeIndexes, SUITE_INDEXES } from '../../support/index-conformance.ts';
import { describeDatastore, type Subject } from '../../support/datastore-conformance.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';

let store: RealStore;
let subject: Subject;

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: 64, smoke: 7 }, indexes: { trips: SUITE_INDEXES } });
  subject = { first: await store.deployment.datastore(store.nameOf('trips')), second: await store.deployment.datastore(store.nameOf('smoke')) };
});

afterAll(() => store.close());

describeDatastore('MySQL store', async () => subject);
describeIndexes('MySQL store', async () => subject.first);

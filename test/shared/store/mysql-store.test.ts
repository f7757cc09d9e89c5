import { afterAll, expect } from 'vitest';
import type { IndexAnswer } from '../../../shared/contract/index-query.ts';
import type { Datastore } from '../../../shared/contract/datastore.ts';
import { describeIndexes, describeLongQueries, SUITE_INDEXES } from '../../support/index-conformance.ts';
import { describeDatastore } from '../../support/datastore-conformance.ts';
import { describeRestoring } from '../../support/restore-conformance.ts';
import { lookedUpBatched } from '../../support/looked-up-batched.ts';
import { openRealStore } from '../../support/real-store.ts';

const store = await openRealStore({ datastores: { trips: 64, smoke: 7 }, indexes: { trips: SUITE_INDEXES } });
afterAll(() => store.close());
const subject = {
  first: await store.deployment.datastore(store.nameOf('trips')),
  second: await store.deployment.datastore(store.nameOf('smoke')),
};

// First, while shards are empty.
describeRestoring('MySQL store', async () => subject.first);
describeDatastore('MySQL store', async () => subject);
describeDatastore('MySQL store, look-ups that come together', async () => ({
  ...subject,
  first: { ...subject.first, ...lookedUpBatched(subject.first) },
}));
describeIndexes('MySQL store', async () => subject.first);
describeLongQueries('MySQL store', async () => subject.first);
describeIndexes('MySQL store, queries that share a statement', async () => ({
  ...subject.first,
  query: amongOthers(subject.first),
}));

/** Asks each query three times at once: the first may go alone, the others share a statement if they may. */
function amongOthers({ query }: Datastore): Datastore['query'] {
  return async (asked) => {
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => query({ ...asked, batched: true })));
    for (const other of others) expect(other).toEqual(first);
    return others[0] as IndexAnswer;
  };
}

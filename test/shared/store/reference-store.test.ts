import { referenceStore } from '../../support/reference-store.ts';
import { describeDatastore } from '../../support/datastore-conformance.ts';
import { describeIndexes, describeLongQueries, SUITE_INDEXES } from '../../support/index-conformance.ts';
import { describeRestoring } from '../../support/restore-conformance.ts';

const subject = { first: referenceStore('trips', 256, SUITE_INDEXES), second: referenceStore('smoke', 7) };

// First, while shards are empty.
describeRestoring('reference store', async () => subject.first);
describeDatastore('reference store', async () => subject);
describeIndexes('reference store', async () => subject.first);
describeLongQueries('reference store', async () => subject.first);

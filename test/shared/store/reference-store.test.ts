import { referenceStore } from '../../../shared/store/reference-store.ts';
import { describeDatastore } from '../../support/datastore-conformance.ts';

const subject = { first: referenceStore('trips', 256), second: referenceStore('smoke', 7) };

describeDatastore('reference store', async () => subject);

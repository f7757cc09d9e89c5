import { randomUUID } from 'node:crypto';
import { RDSDataClient, type ExecuteStatementCommandOutput } from '@aws-sdk/client-rds-data';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { dataApiClient } from '../../../shared/sql/data-api-client.ts';
import { openDeployment, type Deployment } from '../../../shared/store/deployment.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';

let store: RealStore;
let deployment: Deployment;
let sdk: RDSDataClient;

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: 1 }, access: 'data-api' });
  sdk = new RDSDataClient({ endpoint: inject('servers').dataApi, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, maxAttempts: 1 });
  // Answers lose their insert ids on the way.
  sdk.middlewareStack.add((next) => async (args) => {
    const { output, response } = await next(args);
    delete (output as Partial<ExecuteStatementCommandOutput>).generatedFields;
    return { output, response };
  }, { step: 'initialize' });
  const connect = ({ clusterArn, secret }: { readonly clusterArn: string; readonly secret: string }) => dataApiClient(sdk, { resourceArn: clusterArn, secretArn: secret });
  deployment = openDeployment({ topology: store.topology, connect, bufferCopies: 1 });
});
afterAll(async () => {
  await deployment.close();
  sdk.destroy();
  await store.close();
});

describe('a change whose insert id does not come', () => {
  it('is no acknowledgement: cells are answered with the added ids that they have', async () => {
    const datastore = await deployment.datastore(store.nameOf('trips'));
    const cell = (ref_key: number) => ({ row_key: randomUUID(), column_name: 'BASE', ref_key, body: { ref_key } });
    const single = cell(1);
    const batch = [cell(2), cell(3)];
    const results = [await datastore.put(single), ...(await datastore.batchPut(batch))];
    const kept = await Promise.all([single, ...batch].map(async (address) => (await datastore.get(address)).cell?.added_id));
    expect(kept.toSorted()).toEqual([1, 2, 3]);
    expect(results.map((result) => ('added_id' in result ? result.added_id : result))).toEqual(kept);
  });
});

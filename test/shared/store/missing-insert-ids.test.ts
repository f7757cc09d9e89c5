import { randomUUID } from 'node:crypto';
import type { ExecuteStatementCommandOutput } from '@aws-sdk/client-rds-data';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { dataApiClient } from '../../../shared/sql/data-api-client.ts';
import { openDeployment, type Deployment } from '../../../shared/store/deployment.ts';
import { openTrips, sharedTrips } from '../../support/open-trips.ts';
import { dataApiSdk } from '../../support/data-api-sdk.ts';

const { store, name } = await sharedTrips(1, { access: 'data-api' });
const sdk = dataApiSdk(inject('servers').dataApi);
sdk.middlewareStack.add(
  (next) => async (args) => {
    const { output, response } = await next(args);
    delete (output as Partial<ExecuteStatementCommandOutput>).generatedFields;
    return { output, response };
  },
  { step: 'initialize' },
);
const deployment = openDeployment({
  topology: store.topology,
  connect: ({ clusterArn, secret }) => dataApiClient(sdk, { resourceArn: clusterArn, secretArn: secret }),
  bufferCopies: 1,
});
afterAll(async () => {
  await deployment.close();
  sdk.destroy();
});

/** Puts a cell, and a batch of two, into an empty shard: the added ids that were told, and those that they have. */
async function toldAndKept(
  over: Deployment,
  name: string,
): Promise<{ readonly told: readonly unknown[]; readonly kept: readonly unknown[] }> {
  const datastore = await over.datastore(name);
  const cell = (ref_key: number) => ({ row_key: randomUUID(), column_name: 'BASE', ref_key, body: { ref_key } });
  const single = cell(1);
  const batch = [cell(2), cell(3)];
  const results = [await datastore.put(single), ...(await datastore.batchPut(batch))];
  const kept = await Promise.all(
    [single, ...batch].map(async (address) => (await datastore.get(address)).cell?.added_id),
  );
  return { told: results.map((result) => ('added_id' in result ? result.added_id : result)), kept };
}

describe('a change whose insert id does not come', () => {
  it('is no acknowledgement: cells are answered with the added ids that they have', async () => {
    const { told, kept } = await toldAndKept(deployment, name);
    expect(kept.toSorted()).toEqual([1, 2, 3]);
    expect(told).toEqual(kept);
  });

  it.each([0, -1])('is none where the server says %d: a trigger of the table sets it so', async (insertId) => {
    await using silent = await openTrips(1, {
      wrap: (client) => ({
        ...client,
        change: async (statement) => ({ ...(await client.change(statement)), insertId }),
      }),
    });
    const { told, kept } = await toldAndKept(silent.store.deployment, silent.name);
    expect(kept.toSorted()).toEqual([1, 2, 3]);
    expect(told).toEqual(kept);
  });
});

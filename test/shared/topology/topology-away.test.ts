import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createDatastore, dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { refreshSoon } from '../../../shared/topology/refresh-soon.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { TIMED } from '../../support/timed.ts';

let table: DynamoTable;

beforeAll(async () => {
  table = await newTable(dynamoClient(inject('servers').dynamo));
  await createDatastore(table, { datastore: 'trips', shards: 1, homes: [{ group: 'group-1', epoch: 1 }] });
});
afterAll(() => table.client.destroy());

describe('the topology', () => {
  it('that is known keeps nobody waiting while the table is away, or does not answer', TIMED, async () => {
    const state = { table: 'there' as 'there' | 'away' | 'silent' };
    const send = async (...given: unknown[]): Promise<unknown> => {
      if (state.table === 'away') throw new Error('away');
      if (state.table === 'silent') return new Promise(() => undefined);
      return (table.client.send as (...given: unknown[]) => Promise<unknown>).apply(table.client, given);
    };
    const topology = dynamoTopology({ ...table, client: { send } as unknown as DynamoDBClient });
    state.table = 'away';
    await expect(topology.datastores()).rejects.toMatchObject({ code: 'unavailable' });
    state.table = 'there';
    expect(await topology.datastores()).toEqual(['trips']);
    state.table = 'away';
    topology.refresh();
    expect(await topology.datastores()).toEqual(['trips']);
    state.table = 'silent';
    topology.refresh();
    const start = performance.now();
    // After a failure nobody waits at all.
    for (let times = 0; times < 100; times += 1) expect(await topology.datastores()).toEqual(['trips']);
    expect(performance.now() - start).toBeLessThan(500);
  });

  it('that is known is used again soon where the table stops to answer', TIMED, async () => {
    let silent = false;
    const send = async (...given: unknown[]): Promise<unknown> =>
      silent
        ? new Promise(() => undefined)
        : (table.client.send as (...given: unknown[]) => Promise<unknown>).apply(table.client, given);
    const topology = dynamoTopology({ ...table, client: { send } as unknown as DynamoDBClient });
    expect(await topology.datastores()).toEqual(['trips']);
    silent = true;
    topology.refresh();
    const start = performance.now();
    expect(await topology.datastores()).toEqual(['trips']);
    expect(performance.now() - start).toBeLessThan(2500);
  });

  it(
    'is read at once where somebody asks for it to be soon, and no more than once a second, however many do',
    TIMED,
    async () => {
      let scans = 0;
      const send = async (...given: unknown[]): Promise<unknown> => {
        scans += 1;
        return (table.client.send as (...given: unknown[]) => Promise<unknown>).apply(table.client, given);
      };
      const topology = dynamoTopology({ ...table, client: { send } as unknown as DynamoDBClient });
      expect(await topology.datastores()).toEqual(['trips']);
      refreshSoon(topology);
      await topology.datastores();
      expect(scans).toBe(2);
      const begun = performance.now();
      for (let times = 0; times < 200; times += 1) {
        refreshSoon(topology);
        expect(await topology.datastores()).toEqual(['trips']);
      }
      expect(scans).toBeLessThanOrEqual(2 + Math.ceil((performance.now() - begun) / 1000));
      const before = scans;
      await new Promise((resolve) => setTimeout(resolve, 1050));
      refreshSoon(topology);
      await topology.datastores();
      expect(scans).toBe(before + 1);
    },
  );
});

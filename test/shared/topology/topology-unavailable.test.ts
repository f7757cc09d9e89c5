import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import { fakeTimeOfEach, passes } from '../../support/fake-time.ts';

fakeTimeOfEach();

/** A topology over a table that holds one datastore, and may be unavailable, or silent; counts its scans. */
function overTable() {
  const state = {
    table: 'there' as 'there' | 'unavailable' | 'silent' | 'held',
    names: ['trips'],
    scans: 0,
    /** Lets the held scan go. */
    release: undefined as (() => void) | undefined,
  };
  const send = async (): Promise<unknown> => {
    state.scans += 1;
    if (state.table === 'unavailable') throw new Error('unavailable');
    if (state.table === 'silent') return new Promise(() => undefined);
    const lists = { names: { L: [] }, owners: { L: [] }, epochs: { L: [] } };
    const Items = state.names.map((name) => ({ pk: { S: `datastore#${name}` }, ...lists }));
    const { promise, resolve } = Promise.withResolvers<void>();
    if (state.table === 'held') state.release = resolve;
    else resolve();
    await promise;
    return { Items };
  };
  return { state, topology: dynamoTopology({ table: 'topology', client: { send } as unknown as DynamoDBClient }) };
}

describe('the topology', () => {
  it('stays in use without a wait while the table is unavailable, or does not answer', async () => {
    const { state, topology } = overTable();
    state.table = 'unavailable';
    await expect(topology.datastores()).rejects.toMatchObject({ code: 'unavailable' });
    state.table = 'there';
    expect(await topology.datastores()).toEqual(['trips']);
    state.table = 'unavailable';
    topology.refresh();
    expect(await topology.datastores()).toEqual(['trips']);
    state.table = 'silent';
    topology.refresh();
    // No time passes in between.
    for (let times = 0; times < 10; times += 1) expect(await topology.datastores()).toEqual(['trips']);
  });

  it('is used again after a second where the table stops to answer', async () => {
    const { state, topology } = overTable();
    await topology.datastores();
    state.table = 'silent';
    topology.refresh();
    const found = topology.datastores();
    await passes(1000);
    expect(await found).toEqual(['trips']);
  });

  it('is read at once where a caller asks for it to be soon, and no more than once a second', async () => {
    const { state, topology } = overTable();
    await topology.datastores();
    for (let second = 0; second < 3; second += 1) {
      for (let times = 0; times < 20; times += 1) {
        topology.refresh(1000);
        await topology.datastores();
      }
      expect(state.scans).toBe(2 + second);
      await passes(1000);
    }
  });

  it('is not taken for known where it is to be read now and cannot be', async () => {
    const { state, topology } = overTable();
    await topology.datastores();
    state.table = 'unavailable';
    await expect(topology.renew()).rejects.toMatchObject({ code: 'unavailable' });
    state.table = 'there';
    const renewed = topology.renew();
    await passes(100);
    await renewed;
    expect(state.scans).toBe(3);
  });

  it('is read again after a refresh that comes while it is read: that answer may be older', async () => {
    const { state, topology } = overTable();
    await topology.datastores();
    state.table = 'held';
    topology.refresh();
    const [first, release] = [topology.datastores(), state.release];
    topology.refresh();
    const second = topology.datastores();
    state.names = ['trips', 'rides'];
    state.table = 'there';
    release?.();
    await first;
    expect(await second).toEqual(['rides', 'trips']);
    expect(state.scans).toBe(3);
  });
});

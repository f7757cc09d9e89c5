import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { requireDatastore } from '../../shared/access/groups.ts';
import type { NewCell } from '../../shared/cell.ts';
import type { Datastore } from '../../shared/contract/datastore.ts';
import type { IndexOperations } from '../../shared/api/indexes.ts';
import { maintainedIndexes } from '../../shared/index/index-table.ts';
import { openRealStore, type RealStore } from '../support/real-store.ts';
import { byHand, DRIVER_INDEX, type ByHand } from './by-hand.ts';

const SHARDS = 9;
let store: RealStore;
let trips: Datastore & IndexOperations;
let hand: ByHand;

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: SHARDS }, indexes: { trips: [DRIVER_INDEX] } });
  const name = store.nameOf('trips');
  trips = await store.deployment.datastore(name);
  const topology = await requireDatastore(store.topology, name);
  const [index] = await maintainedIndexes(store.topology, name);
  if (!index) throw new Error('wanted an index, got none');
  hand = byHand({ groups: inject('servers').groups, topology, index, connections: 2 });
});
afterAll(async () => {
  await hand[Symbol.asyncDispose]();
  await store.close();
});

const trip = (): NewCell => ({
  row_key: randomUUID(),
  column_name: 'BASE',
  ref_key: 1,
  body: { driver_uuid: randomUUID() },
});

/** Returns the cell as the store finds it: by its address, by its index, and by a repeated put. */
async function found(cell: NewCell) {
  const { driver_uuid: driver } = cell.body as { readonly driver_uuid: string };
  const { entries } = await trips.query({
    index: 'driver_index',
    where: { driver_uuid: driver },
  });
  return {
    body: (await trips.get(cell)).cell?.body,
    rows: entries.map(({ row_key }) => row_key),
    again: (await trips.put(cell)).outcome,
  };
}
const all = ({ body, row_key }: NewCell) => ({ body, rows: [row_key], again: 'stored_before' });

describe("the store's statements by hand, a reference for its speed", () => {
  it('put what the store puts: a copy, the cell, its index entry', async () => {
    const cell = trip();
    await hand.put(cell);
    expect(await found(cell)).toEqual(all(cell));
  });

  it('append what the store appends', async () => {
    const cell = trip();
    await hand.append(cell);
    expect((await trips.get(cell)).cell).toMatchObject({ body: cell.body });
  });
});

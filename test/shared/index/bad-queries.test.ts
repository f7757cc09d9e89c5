import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { indexReads } from '../../../shared/store/deployment.ts';
import type { Condition } from '../../../shared/contract/index-query.ts';
import { openContext } from '../../../shared/access/context.ts';
import type { IndexVersion } from '../../../shared/topology/index-catalogue.ts';
import type { IndexNow } from '../../../shared/topology/index-now.ts';
import type { TopologySource } from '../../../shared/topology/topology.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { fakeTime, passes } from '../../support/fake-time.ts';
import { eq } from '../../support/index-on.ts';

const live: IndexVersion = {
  hash: 'a',
  state: 'live',
  definition: { name: 'drivers', fields: [{ field: 'driver', type: 'UUID', column_key: 'BASE' }], keys: [] },
};
const building: IndexVersion = {
  hash: 'b',
  state: 'building',
  definition: {
    ...live.definition,
    fields: [...live.definition.fields, { field: 'riders', type: 'integer', column_key: 'BASE' }],
  },
};
const TOLD: IndexNow = { versions: [live], progress: undefined, mistyped: [] };

const indexNow = vi.fn<TopologySource['indexNow']>();

function reads() {
  const topology: TopologySource = {
    datastore: async () => ({ datastore: 'trips', shards: 1, homes: [{ group: 'group-1', epoch: 1 }] }),
    datastores: async () => ['trips'],
    groups: async () => [],
    groupsNow: async () => [],
    indexes: async () => [{ name: 'drivers', versions: [live] }],
    indexNow,
    triggers: async () => [],
    isGoneNow: async () => false,
    refresh: () => undefined,
  };
  const connect = (): never => {
    throw new Error('no query gets so far');
  };
  return indexReads(openContext({ topology, connect, bufferCopies: 0 }), 'trips');
}

const driver: Condition = eq('driver', randomUUID());
const riders: Condition = eq('riders', 2);

let time: Disposable;
beforeEach(() => {
  time = fakeTime();
  indexNow.mockReset().mockResolvedValue(TOLD);
});
afterEach(() => time[Symbol.dispose]());

describe('queries that do not fit', () => {
  it('cost a look at the topology table a second, however many come, and are told what is wrong', async () => {
    const { query } = reads();
    for (let times = 0; times < 50; times += 1)
      expect(await errorOf(() => query({ index: 'drivers', where: [driver, riders] }))).toMatchObject({
        code: 'unknown_field',
      });
    expect(indexNow).toHaveBeenCalledTimes(1);
    await passes(1000);
    await errorOf(() => query({ index: 'drivers', where: [driver, riders] }));
    expect(indexNow).toHaveBeenCalledTimes(2);
  });

  it('do so of indexes that there are not, too, under any names', async () => {
    indexNow.mockResolvedValue({ ...TOLD, versions: [] });
    const { query } = reads();
    for (let times = 0; times < 50; times += 1)
      expect(await errorOf(() => query({ index: `drivers_${times}`, where: [driver] }))).toMatchObject({
        code: 'unknown_index',
      });
    expect(indexNow).toHaveBeenCalledTimes(1);
  });

  it('know at once what the index was shown to be a moment ago', async () => {
    const { query, index } = reads();
    const ask = () => errorOf(() => query({ index: 'drivers', where: [driver, riders] }));
    expect(await ask()).toMatchObject({ code: 'unknown_field' });
    indexNow.mockResolvedValue({ ...TOLD, versions: [live, building] });
    expect(await index('drivers')).toMatchObject({ state: 'changing' });
    expect(await ask()).toMatchObject({ code: 'index_building' });
  });
});

import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { indexReads } from '../../../shared/store/deployment.ts';
import { openContext } from '../../../shared/access/context.ts';
import type { IndexCatalogue, IndexVersion } from '../../../shared/topology/index-catalogue.ts';
import type { IndexNow } from '../../../shared/topology/index-now.ts';
import type { TopologySource } from '../../../shared/topology/topology.ts';
import { errorOf } from '../../support/datastore-conformance.ts';
import { fakeTime, passes } from '../../support/fake-time.ts';

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
const renew = vi.fn<TopologySource['renew']>();
let listed: readonly IndexCatalogue[];

function reads() {
  const topology: TopologySource = {
    datastore: async () => ({ datastore: 'trips', shards: 1, homes: [{ group: 'group-1', epoch: 1 }] }),
    datastores: async () => ['trips'],
    served: async () => ['trips'],
    groups: async () => [],
    groupsNow: async () => [],
    indexes: async () => listed,
    indexNow,
    triggers: async () => [],
    refresh: () => undefined,
    renew,
  };
  const connect = (): never => {
    throw new Error('no query gets so far');
  };
  return indexReads(openContext({ topology, connect, bufferCopies: 0 }), 'trips');
}

const driver = { driver: randomUUID() };
const riders = { riders: 2 };

let time: Disposable;
beforeEach(() => {
  time = fakeTime();
  indexNow.mockReset().mockResolvedValue(TOLD);
  renew.mockReset().mockResolvedValue();
  listed = [{ name: 'drivers', versions: [live] }];
});
afterEach(() => time[Symbol.dispose]());

describe('queries that do not fit', () => {
  it('share reads of the topology table, and are told what is wrong', async () => {
    const { query } = reads();
    const asked = Array.from({ length: 50 }, () =>
      errorOf(() => query({ index: 'drivers', where: { ...driver, ...riders } })),
    );
    await passes(100);
    for (const error of await Promise.all(asked)) expect(error).toMatchObject({ code: 'unknown_field' });
    expect(indexNow).toHaveBeenCalledTimes(1);
  });

  it('by names that no index has check for indexes made since, and read no item of these names', async () => {
    const { query, getIndex } = reads();
    expect(await errorOf(() => query({ index: 'riders', where: { ...driver } }))).toMatchObject({
      code: 'unknown_index',
    });
    expect(await errorOf(() => getIndex('riders'))).toMatchObject({ code: 'unknown_index' });
    renew.mockImplementation(async () => void (listed = [...listed, { name: 'riders', versions: [building] }]));
    indexNow.mockResolvedValue({ ...TOLD, versions: [building] });
    const made = await errorOf(() => query({ index: 'riders', where: { ...driver } }));
    expect([made.code, renew.mock.calls.length, indexNow.mock.calls]).toEqual([
      'index_building',
      3,
      [['trips', 'riders']],
    ]);
  });

  it('know at once of a definition that was made since, also where others read at the same time', async () => {
    const { query } = reads();
    const ask = () => errorOf(() => query({ index: 'drivers', where: { ...driver, ...riders } }));
    const before = ask();
    await passes(1);
    indexNow.mockResolvedValue({ ...TOLD, versions: [live, building] });
    const after = ask();
    await passes(100);
    expect([(await before).code, (await after).code]).toEqual(['unknown_field', 'index_building']);
  });
});

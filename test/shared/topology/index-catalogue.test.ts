import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { IndexDefinition } from '../../../shared/definitions/definitions.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import { readState } from '../../../shared/dynamo/state-table.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import {
  changeIndexVersions,
  definitionHash,
  forgetIndexVersion,
  setIndexState,
  type IndexState,
  type IndexVersion,
} from '../../../shared/topology/index-catalogue.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';

const client = dynamoClient(inject('servers').dynamo);
let table: DynamoTable;
beforeEach(async () => {
  table = await newTable(client);
});
afterAll(() => client.destroy());

const definition: IndexDefinition = {
  name: 'by_driver',
  fields: [{ field: 'driver', type: 'UUID', column_key: 'BASE' }],
  keys: [],
};
const index = { datastore: 'trips', name: 'by_driver' };
const version = (hash: string, state: IndexState): IndexVersion => ({ hash, definition, state });
const listed = (versions: readonly IndexVersion[]) => changeIndexVersions(table, index, () => versions);
const states = async (): Promise<Record<string, IndexState>> =>
  Object.fromEntries(
    (await changeIndexVersions(table, index, (versions) => versions)).map(({ hash, state }) => [hash, state]),
  );

describe('the hash of a definition', () => {
  it('is that of its fields, in order, and keys, and of nothing else', () => {
    expect(definitionHash(definition)).toMatch(/^[0-9a-f]{8}$/u);
    expect(definitionHash({ ...definition, name: 'other' })).toBe(definitionHash(definition));
    const more: IndexDefinition = {
      ...definition,
      fields: [
        ...definition.fields,
        { column_key: 'BASE', type: 'string', field: 'a' },
        { field: 'b', type: 'string', column_key: 'BASE' },
      ],
    };
    const different = [
      definition,
      more,
      { ...more, fields: [...more.fields].reverse() },
      { ...more, keys: [['a', 'b']] },
      { ...more, keys: [['b', 'a']] },
    ];
    expect(
      new Set([
        ...different.map((one) => definitionHash(one)),
        definitionHash(definition, 1),
        definitionHash(definition, 2),
      ]).size,
    ).toBe(7);
    expect(definitionHash({ ...definition, fields: [{ column_key: 'BASE', type: 'UUID', field: 'driver' }] })).toBe(
      definitionHash(definition),
    );
  });

  it('never changes: tables are named after it', () => {
    expect(definitionHash(definition)).toBe('9f81f6d3');
  });
});

describe('the index catalogue', () => {
  it('is read with the topology: by datastore and name, without indexes whose versions are all forgotten', async () => {
    await listed([version('a', 'live')]);
    await changeIndexVersions(table, { datastore: 'trips', name: 'alpha' }, () => [version('b', 'building')]);
    await changeIndexVersions(table, { datastore: 'trips', name: 'gone' }, () => []);
    await changeIndexVersions(table, { datastore: 'rides', name: 'by_driver' }, () => [version('c', 'retired')]);
    const topology = dynamoTopology(table);
    expect(await topology.indexes('trips')).toEqual([
      { name: 'alpha', versions: [version('b', 'building')] },
      { name: 'by_driver', versions: [version('a', 'live')] },
    ]);
    expect(await topology.indexes('rides')).toEqual([{ name: 'by_driver', versions: [version('c', 'retired')] }]);
    expect(await topology.indexes('none')).toEqual([]);
    expect(await topology.datastores()).toEqual([]);
  });

  it('makes a version live and retires the one before with one write', async () => {
    await listed([version('old', 'live'), version('new', 'building')]);
    const before = Date.now(); // Clock: as data
    expect(await setIndexState(table, index, 'new', 'building', 'live')).toBe(true);
    const [{ versions = [] } = {}] = await dynamoTopology(table).indexes('trips');
    expect(versions).toEqual([
      { ...version('old', 'retired'), retired_at: expect.any(String) },
      version('new', 'live'),
    ]);
    expect(Date.parse(versions[0]?.retired_at ?? '')).toBeGreaterThanOrEqual(before);
  });

  it('moves no version that is in another state by now', async () => {
    await listed([version('a', 'retired'), version('b', 'live')]);
    expect(await setIndexState(table, index, 'a', 'building', 'live')).toBe(false);
    expect(await setIndexState(table, index, 'c', 'building', 'live')).toBe(false);
    expect(await setIndexState(table, { ...index, name: 'none' }, 'a', 'building', 'live')).toBe(false);
    expect(await states()).toEqual({ a: 'retired', b: 'live' });
  });

  it('lets only one of two runs move a version', async () => {
    await listed([version('a', 'building')]);
    const moved = await Promise.all([1, 2, 3].map(() => setIndexState(table, index, 'a', 'building', 'live')));
    expect(moved.filter(Boolean)).toHaveLength(1);
  });

  it('forgets retired versions alone', async () => {
    await listed([version('a', 'retired'), version('b', 'live')]);
    expect(await forgetIndexVersion(table, index, 'b')).toBe(false);
    expect(await forgetIndexVersion(table, index, 'a')).toBe(true);
    expect(await forgetIndexVersion(table, index, 'a')).toBe(false);
    expect(await states()).toEqual({ b: 'live' });
  });

  it('writes nothing where nothing changes', async () => {
    await listed([version('a', 'live')]);
    const before = await readState(table, 'index#trips#by_driver');
    await changeIndexVersions(table, index, (versions) => versions);
    await setIndexState(table, index, 'a', 'building', 'live');
    await forgetIndexVersion(table, index, 'a');
    // Each write gives it another version.
    expect(await readState(table, 'index#trips#by_driver')).toEqual(before);
  });
});

import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { migrate } from '../../../shared/migrate/migrate.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { dynamoTopology, readDatastore } from '../../../shared/topology/dynamo-topology.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';

const SHARDS = 400;
const groups: readonly GroupAddress[] = inject('servers').groups.map((group) => ({ ...group, sharedStorage: false }));
let topologyTable: DynamoTable;

beforeAll(async () => {
  topologyTable = await newTable(dynamoClient(inject('servers').dynamo));
});
afterAll(() => topologyTable.client.destroy());

function connect(address: GroupAddress) {
  const group = inject('servers').groups.find(({ name }) => name === address.name);
  return mysqlClient(address, async () => ({ username: group?.user ?? '', password: group?.password ?? '' }));
}

describe('a datastore whose first migration was cut off', () => {
  it('takes writes in every shard once it is made: none is held for one whose cells were lost', async () => {
    const name = `cut_${randomBytes(4).toString('hex')}`;
    const wish = { groups, datastores: [{ name, shards: SHARDS, indexes: [] }] };
    const run = (mayGoOn: () => boolean) => migrate({ topologyTable, connect, wish, bufferCopies: 1, mayGoOn });
    let looks = 0;
    expect(await run(() => (looks += 1) <= 4)).toBe(false);
    expect(await readDatastore(topologyTable, name)).toMatchObject({ isBeingMade: true });
    expect(await run(() => true)).toBe(true);
    expect(await readDatastore(topologyTable, name)).not.toHaveProperty('isBeingMade');

    const deployment = openDeployment({ topology: dynamoTopology(topologyTable), connect, bufferCopies: 1 });
    const trips = await deployment.datastore(name);
    const cells = Array.from({ length: 100 }, () => cellOf({ row_key: randomUUID() }));
    const outcomes = (await trips.batchPut(cells)).map(({ outcome }) => outcome);
    await deployment.close();
    expect(new Set(outcomes)).toEqual(new Set(['stored']));
  });
});

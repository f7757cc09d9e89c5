import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { openFollower, readFollower } from '../../../shared/follow/follower-item.ts';
import { OffsetItems } from '../../../shared/follow/offset-items.ts';
import { deployTriggers } from '../../../shared/migrate/deployed-triggers.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import type { DeployedTrigger } from '../../../shared/topology/topology.ts';
import { triggerStore } from '../../../shared/triggers/state/dynamo-trigger-store.ts';
import { triggerFollower } from '../../../shared/triggers/state/trigger-items.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { triggerNamed } from '../../support/trigger-named.ts';

const client = dynamoClient(inject('servers').dynamo);
let topologyTable: DynamoTable;
let stateTable: DynamoTable;
beforeEach(async () => {
  topologyTable = await newTable(client);
  stateTable = await newTable(client);
});
afterAll(() => client.destroy());

const trigger = (name: string, queueUrl = `http://localhost/${name}.fifo`): DeployedTrigger => ({
  definition: triggerNamed(name, { columns: ['BASE'], start: { since: '2026-01-31T08:00:00.000000Z' } }),
  queueUrl,
  parkedQueueUrl: `${queueUrl}-parked`,
});
type Named = Readonly<Record<string, readonly (string | DeployedTrigger)[]>>;
const deploy = (desired: Named, minutesFromNow = 0, isPart = false): Promise<void> => {
  const datastores = Object.entries(desired).map(([name, triggers]) => ({
    name,
    triggers: triggers.map((one) => (typeof one === 'string' ? trigger(one) : one)),
  }));
  const now = new Date(Date.now() + minutesFromNow * 60_000); // Clock: as data
  return deployTriggers({ topologyTable, stateTable }, datastores, { now, isPart });
};
const listed = (datastore: string): Promise<readonly DeployedTrigger[]> =>
  dynamoTopology(topologyTable).triggers(datastore);
const names = async (datastore: string): Promise<readonly string[]> =>
  (await listed(datastore)).map(({ definition }) => definition.name);
const stateKeys = async (): Promise<readonly string[]> =>
  ((await client.send(new ScanCommand({ TableName: stateTable.table }))).Items ?? [])
    .map((item) => item['pk']?.S ?? '')
    .sort();

/** As if the trigger had been worked for: offsets, and a state. */
async function work(datastore: string, name: string): Promise<void> {
  const follower = { name: triggerFollower(name), datastore };
  await openFollower(stateTable, follower, 2);
  const items = new OffsetItems(stateTable, { ...follower, shards: 2, partitions: 2 });
  for (const partition of [0, 1]) {
    const taken = await items.take(partition, 'worker', []);
    await items.commit(partition, { token: taken?.token ?? 0, generation: 0 }, [
      { added_id: 7, fingerprint: '00'.repeat(8), epoch: 1 },
    ]);
  }
  await triggerStore(stateTable, { datastore, trigger: name }).setState('paused');
}

describe('deployed triggers', () => {
  it('are listed by name for each datastore, as they are deployed now', async () => {
    await deploy({ trips: ['b', 'a'], rides: [] });
    expect(await listed('trips')).toEqual([trigger('a'), trigger('b')]);
    expect(await listed('rides')).toEqual([]);
    expect(await listed('unknown')).toEqual([]);
    await deploy({ trips: [trigger('a', 'http://localhost/moved.fifo'), 'b'], rides: [] });
    expect((await listed('trips')).map(({ queueUrl }) => queueUrl)).toEqual([
      'http://localhost/moved.fifo',
      'http://localhost/b.fifo',
    ]);
  });

  it('go with their definition, and with their datastore', async () => {
    await deploy({ trips: ['a', 'b'], rides: ['a'] });
    await deploy({ trips: ['b'], rides: ['a'] });
    expect([await names('trips'), await names('rides')]).toEqual([['b'], ['a']]);
    await deploy({ trips: ['b'] });
    expect([await names('trips'), await names('rides')]).toEqual([['b'], []]);
  });

  it('stay where only a part of the datastores is deployed, without theirs', async () => {
    await deploy({ trips: ['a'], rides: ['a'] });
    await deploy({ trips: [] }, 0, true);
    expect([await names('trips'), await names('rides')]).toEqual([[], ['a']]);
  });

  it('go on where they were when they are deployed again', async () => {
    await deploy({ trips: ['a'] });
    await work('trips', 'a');
    const before = await stateKeys();
    await deploy({ trips: [{ ...trigger('a'), definition: { ...trigger('a').definition, start: 'now' } }] }, 60);
    expect(await stateKeys()).toEqual(before);
    expect(before).toHaveLength(4);
  });

  it('start without state when they are added again, however soon', async () => {
    await deploy({ trips: ['a', 'b'] });
    await work('trips', 'a');
    await work('trips', 'b');
    await deploy({ trips: ['b'] });
    // Its workers may still write here, and must not start over.
    expect(await readFollower(stateTable, { name: triggerFollower('a'), datastore: 'trips' })).toBeDefined();
    await deploy({ trips: ['a', 'b'] });
    expect(await names('trips')).toEqual(['a', 'b']);
    expect((await triggerStore(stateTable, { datastore: 'trips', trigger: 'a' }).status()).state).toBe('running');
    expect((await stateKeys()).filter((key) => key.includes('#trips') && !/\bb\b/u.test(key))).toEqual([]);
    expect((await triggerStore(stateTable, { datastore: 'trips', trigger: 'b' }).status()).state).toBe('paused');
  });

  it('are forgotten by a migration ten minutes after they were removed', async () => {
    await deploy({ trips: ['a'] });
    await work('trips', 'a');
    await deploy({ trips: [] });
    await deploy({ trips: [] }, 9);
    expect(await stateKeys()).toHaveLength(4);
    await deploy({ trips: [] }, 11);
    expect(await stateKeys()).toEqual([]);
    expect((await client.send(new ScanCommand({ TableName: topologyTable.table }))).Items).toEqual([]);
  });
});

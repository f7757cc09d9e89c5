import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { appliedQueues } from '../../../shared/migrate/applied-queues.ts';
import { deleteDatastore } from '../../../shared/migrate/delete-datastore.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import type { SqlClient, Statement } from '../../../shared/sql/client.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import { sqsTriggerQueues } from '../../../shared/triggers/state/sqs-trigger-queues.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { startSqs, type LocalSqs } from '../../support/sqs.ts';
import { PATIENT } from '../../support/store-access.ts';

/** Databases are made and dropped. */
vi.setConfig({ testTimeout: 240_000 });

const SHARDS = 6;
const groups: readonly GroupAddress[] = inject('servers').groups;
let sqs: LocalSqs;
let topologyTable: DynamoTable;
let stateTable: DynamoTable;

beforeAll(async () => {
  sqs = await startSqs();
  topologyTable = await newTable(dynamoClient(inject('servers').dynamo));
  stateTable = await newTable(topologyTable.client);
});
afterAll(async () => {
  topologyTable.client.destroy();
  await sqs.stop();
});

function connect(address: GroupAddress): SqlClient {
  const group = inject('servers').groups.find((one) => one.name === address.name);
  return mysqlClient(address, async () => ({ username: group?.user ?? '', password: group?.password ?? '' }), PATIENT);
}

const make = (name: string) => {
  const wish = { groups, datastores: [{ name, shards: SHARDS, indexes: [], triggers: [] }] };
  return migrate({ topologyTable, stateTable, connect, wish, bufferCopies: 1, mayGoOn: () => true });
};

/** @param before is awaited before each change of a group */
function remove(
  name: string,
  force: boolean,
  before: (statement: Statement) => Promise<void> | void = () => undefined,
) {
  return deleteDatastore(
    {
      topologyTable,
      stateTable,
      bufferCopies: 1,
      queues: appliedQueues(sqs.client, 'late-deletion'),
      depths: sqsTriggerQueues(sqs.client),
      mostShards: 64,
      canSeal: true,
      deployed: { datastores: [] },
      mayGoOn: () => true,
      connect(address) {
        const client = connect(address);
        return {
          ...client,
          async change(statement) {
            await before(statement);
            return client.change(statement);
          },
        };
      },
    },
    name,
    { confirm: name, force },
  );
}

/** Stands still at the first statement of its kind, until it is told to go on. */
function freezeAt(beginning: string) {
  const [reached, thawed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    reached: reached.promise,
    thaw: () => thawed.resolve(),
    async before({ sql }: Statement): Promise<void> {
      if (!sql.startsWith(beginning)) return;
      reached.resolve();
      await thawed.promise;
    },
  };
}

async function outcomes(name: string): Promise<Set<string>> {
  const deployment = openDeployment({ topology: dynamoTopology(topologyTable), connect, bufferCopies: 1 });
  const cells = Array.from({ length: 40 }, () => cellOf({ row_key: randomUUID() }));
  const results = await (await deployment.datastore(name)).batchPut(cells);
  await deployment.close();
  return new Set(results.map(({ outcome }) => outcome));
}

async function fences(name: string): Promise<number> {
  let count = 0;
  for (const group of groups) {
    const client = connect(group);
    const sql = 'SELECT COUNT(*) FROM schemaless.deletion WHERE datastore = ?';
    count += Number((await client.select({ sql, parameters: [name] }, 'writer'))[0]?.[0]);
    await client.close();
  }
  return count;
}

describe('a deletion that is frozen before it raises its fence', () => {
  it.each([true, false])('closes nothing of a datastore that was made since, force: %s', async (force) => {
    const name = `late_${randomBytes(3).toString('hex')}`;
    await make(name);
    const freeze = freezeAt('INSERT INTO `schemaless`.deletion');
    const late = remove(name, force, freeze.before);
    await freeze.reached;
    expect(await remove(name, true)).toMatchObject({ done: true });
    await make(name);
    freeze.thaw();
    expect(await late).toMatchObject({ done: false });
    expect(await outcomes(name)).toEqual(new Set(['stored']));
    expect(await fences(name)).toBe(0);
  });

  it('leaves nothing closed where it dies then: a deployment opens it', async () => {
    const name = `late_${randomBytes(3).toString('hex')}`;
    await make(name);
    let isDead = false;
    const freeze = freezeAt('INSERT INTO `schemaless`.deletion');
    const late = remove(name, false, async (statement) => {
      if (isDead) throw new Error('died');
      await freeze.before(statement);
      // The fence and the shards of one group are its last words.
      isDead = statement.sql.startsWith('UPDATE');
    });
    await freeze.reached;
    await remove(name, true);
    await make(name);
    freeze.thaw();
    // Its mark is gone: it cannot take itself back either.
    await expect(late).rejects.toThrow('conditional');
    await make(name);
    expect(await outcomes(name)).toEqual(new Set(['stored']));
    expect(await fences(name)).toBe(0);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { startShardGroups, type ShardGroups } from '../../../infra/local/mysql/shard-groups.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { migrate } from '../../../shared/migrate/migrate.ts';
import { stepControl, CONTROL_STEPS } from '../../../shared/migrate/steps.ts';
import { SqlError, type SqlClient } from '../../../shared/sql/client.ts';
import { mysqlClient } from '../../../shared/sql/mysql-client.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology } from '../../../shared/topology/dynamo-topology.ts';
import type { GroupAddress } from '../../../shared/topology/topology.ts';
import type { DynamoTable } from '../../../shared/dynamo/table.ts';
import { cellOf } from '../../support/datastore-conformance.ts';
import { dynamoClient, newTable } from '../../support/dynamo.ts';
import { PATIENT } from '../../support/store-access.ts';
import { change, select } from '../../support/plain-sql.ts';
import { folderOfTests } from '../../infra/support/folder-of-tests.ts';

/** A step that a later release may bring: each kind of statement that fails if it is repeated. */
const LATER = [
  'ALTER TABLE schemaless.shard ADD COLUMN later INT UNSIGNED NULL',
  'ALTER TABLE schemaless.buffer ADD KEY later (created_at)',
  'ALTER TABLE schemaless.buffer DROP KEY later',
];
const STEPS = [...CONTROL_STEPS, LATER];
const OURS = (name: string): string => String.raw`WHERE ${name} = 'schemaless' OR ${name} LIKE 'trips\_%'`;
const DATASTORE = {
  name: 'trips',
  shards: 2,
  indexes: [{ name: 'city_index', fields: [{ column_key: 'BASE', field: 'city', type: 'string' as const }], keys: [] }],
  triggers: [],
};

const folder = folderOfTests();
const dynamo = dynamoClient(inject('servers').dynamo);
/** Of each test. */
let topologyTable: DynamoTable;
let servers: ShardGroups;

// Servers of their own: those of the run have one control database for all files.
beforeAll(async () => {
  servers = await startShardGroups({
    dataDir: folder.path,
    engine: inject('servers').engine.kind,
    groups: [{ name: 'group-1', readers: 0 }],
    restartAfterSeconds: 0,
    shards: 16,
    log: () => undefined,
  });
});
afterAll(async () => {
  await servers?.stop();
  dynamo.destroy();
});
beforeEach(reset);

/** Empties the server. */
async function reset(): Promise<void> {
  topologyTable = await newTable(dynamo);
  const databases = await rowsOf(`SELECT schema_name FROM information_schema.schemata ${OURS('schema_name')}`);
  for (const name of databases) await use((client) => change(client, `DROP DATABASE ${name}`));
}

function address(): GroupAddress {
  const [group] = servers.groups;
  if (!group) throw new Error('wanted a group');
  const { name, writerEndpoint: writer, readerEndpoint: reader, instanceEndpoints: nodes } = group;
  return { name, writer, reader, nodes, clusterArn: '', secret: '', sharedStorage: false };
}

function connect(): SqlClient {
  const { user: username = '', password = '' } = servers.groups[0] ?? {};
  return mysqlClient(address(), async () => ({ username, password }), PATIENT);
}

async function use<T>(work: (client: SqlClient) => Promise<T>): Promise<T> {
  const client = connect();
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function rowsOf(text: string): Promise<readonly string[]> {
  return use(async (client) => (await select(client, text)).map((row) => row.map(String).join(' ')));
}

/** Columns and keys of all tables, and the steps taken. */
async function schema(): Promise<unknown> {
  return [
    await rowsOf(
      `SELECT table_schema, table_name, column_name, ordinal_position, column_type, is_nullable, column_default FROM information_schema.columns ${OURS('table_schema')} ORDER BY 1, 2, 4`,
    ),
    await rowsOf(
      `SELECT table_schema, table_name, index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics ${OURS('table_schema')} ORDER BY 1, 2, 3, 4`,
    ),
    await rowsOf('SELECT step FROM schemaless.migration ORDER BY step'),
  ];
}

type Wrap = (client: SqlClient) => SqlClient;

const upgrade = (wrap: Wrap = (client) => client): Promise<void> => use((client) => stepControl(wrap(client), STEPS));

const run = (wrap: Wrap = (client) => client): Promise<boolean> =>
  migrate({
    topologyTable,
    connect: () => wrap(connect()),
    desired: { groups: [address()], datastores: [DATASTORE] },
    mayGoOn: () => true,
  });

/** Fails behind so many changes, as if the process had ended before the answer to the last one came. */
function cutOff(after: number, end: () => Promise<void> = async () => undefined): Wrap {
  let changes = 0;
  return (client) => ({
    ...client,
    async change(statement) {
      changes += 1;
      const nth = changes;
      if (nth > after) throw new SqlError('unreachable', 'cut off');
      const done = await client.change(statement);
      if (nth < after) return done;
      await end();
      throw new SqlError('unclear', 'cut off');
    },
  });
}

describe.each([
  { what: 'the steps of a later release', work: upgrade },
  { what: 'a first migration', work: run },
])('$what', ({ work }) => {
  it('continue wherever they were cut off', async () => {
    let changes = 0;
    await work((client) => ({ ...client, change: (statement) => ((changes += 1), client.change(statement)) }));
    const wanted = await schema();
    expect(changes).toBeGreaterThan(STEPS.flat().length - LATER.length);
    for (let after = 1; after <= changes; after += 1) {
      await reset();
      await expect(work(cutOff(after))).rejects.toThrow('cut off');
      await work();
      expect(await schema(), `cut off after ${after} of ${changes} changes`).toEqual(wanted);
    }
  });
});

it('a migration continues after its server died between two statements', async () => {
  await run();
  const wanted = await schema();
  await reset();
  await expect(run(cutOff(3, () => servers.kill('group-1-a')))).rejects.toThrow('cut off');
  await servers.restart('group-1-a');
  // It accepts connections a moment after it was started.
  await expect.poll(() => run().catch(String)).toBe(true);
  expect(await schema()).toEqual(wanted);
});

describe('a store in use', () => {
  it('is upgraded without a change of its rows, and goes on serving this release', async () => {
    await run();
    const deployment = openDeployment({ topology: dynamoTopology(topologyTable), connect, bufferCopies: 0 });
    onTestFinished(() => deployment.close());
    const trips = await deployment.datastore(DATASTORE.name);
    const put = async (): Promise<readonly NewCell[]> => {
      const cells = Array.from({ length: 10 }, () => cellOf({ body: { city: 'Lisbon' } }));
      expect(new Set((await trips.batchPut(cells)).map(({ outcome }) => outcome))).toEqual(new Set(['stored']));
      return cells;
    };
    const before = await put();
    const rows = async (): Promise<unknown> =>
      Promise.all(
        [
          'SELECT datastore, shard, epoch, state, first_id, head FROM schemaless.shard',
          ...[0, 1].map((shard) => `SELECT added_id, row_key, body, created_at FROM trips_000${shard}.entity`),
        ].map(rowsOf),
      );
    const kept = await rows();

    await upgrade();
    // Shards take steps, too.
    for (const shard of [0, 1])
      await use((client) => change(client, `ALTER TABLE trips_000${shard}.entity ADD COLUMN later INT UNSIGNED NULL`));
    await use((client) => change(client, 'UPDATE schemaless.shard SET step = step + 1'));
    expect(await rows()).toEqual(kept);

    // A release that does not know the step, as during the deployment and after a rollback.
    const upgraded = await schema();
    expect(await run()).toBe(true);
    expect([await rows(), await schema()]).toEqual([kept, upgraded]);
    const cells = [...before, ...(await put())];
    expect((await trips.batchGet(cells)).map((cell) => cell && 'body' in cell && cell.body)).toEqual(
      cells.map(({ body }) => body),
    );
    const where = { city: 'Lisbon' };
    // A write waits for its entries for a moment only.
    await expect.poll(async () => (await trips.query({ index: 'city_index', where })).entries).toHaveLength(20);
  });
});

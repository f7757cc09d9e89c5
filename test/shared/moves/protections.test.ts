import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { rowKeyBytes, copyDatabase, shardDatabase, shardOf } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { indexTableName } from '../../../shared/index/index-table.ts';
import { verifiedEpochs } from '../../../shared/index/repair/verified-epochs.ts';
import { writeMove, type Move } from '../../../shared/moves/move-item.ts';
import { mendNames } from '../../../shared/moves/shard-tables.ts';
import { resumeSwitch, switchShard } from '../../../shared/moves/switch-shard.ts';
import { toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { SqlError, type SqlClient, type SqlValue, type Statement } from '../../../shared/sql/client.ts';
import { eq, indexOn } from '../../support/index-on.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { openMover, type Mover } from './support.ts';

/*
 * What a switch is guarded by, each shown by what it is for. One shard: a test moves it on from where the one before has
 * left it.
 */
const SHARD = 0;
/** Done before a statement goes to a group; for one test. */
let before: (group: string, statement: Statement) => Promise<void> | void = () => undefined;
beforeEach(() => {
  before = () => undefined;
});

const watched = (client: SqlClient, group: string): SqlClient => ({
  ...client,
  async change(statement) {
    await before(group, statement);
    return client.change(statement);
  },
  ...(client.transactions && {
    transactions: {
      ...client.transactions,
      async run(statements) {
        for (const statement of statements) await before(group, statement);
        if (!client.transactions) throw new Error('no transactions');
        return client.transactions.run(statements);
      },
    },
  }),
});

const {
  store,
  trips: datastore,
  name,
} = await sharedTrips(1, { indexes: [indexOn('by_city', { city: 'string' })], wrap: watched });
await datastore.put(cell('first'));

function cell(city: string): NewCell {
  const row_key = randomUUID();
  expect(shardOf(row_key, 1)).toBe(SHARD);
  return { row_key, column_name: 'BASE', ref_key: 1, body: { city } };
}

async function valueOf(group: string, sql: string, parameters: Statement['parameters'] = []): Promise<SqlValue> {
  const [[value = null] = []] = await store.client(group).select({ sql, parameters }, 'writer');
  return value;
}

const change = (group: string, sql: string) => store.client(group).change({ sql, parameters: [] });

/** Begins a move. Returns where it goes from and to once its copy follows and no mover works on it, and a third group. */
async function followed(mover: Mover) {
  const { group: from } = await mover.home(SHARD);
  const [to, third] = await mover.others(SHARD);
  await mover.follow(SHARD, to);
  return { from, to, third };
}

async function switched(mover: Mover): Promise<void> {
  const stop = mover.start();
  await mover.operations.switchMove({ shard: SHARD });
  await mover.switched(SHARD);
  await stop();
}

async function completed(mover: Mover): Promise<void> {
  const stop = mover.start();
  await mover.complete(SHARD);
  await stop();
}

/** Goes on with the switch of a move, as a mover that took over. */
async function resumed(move: Move, from: string, to: string) {
  const [source, target] = await Promise.all([store.context.groups.client(from), store.context.groups.client(to)]);
  const { context, topologyTable } = store;
  return resumeSwitch(
    { context, topologyTable, settings: {}, tellMoved: () => undefined, write: async () => undefined },
    move,
    { source, target },
  );
}

/** Holds the first change that is meant. Returns when one is held (`stands`), and how to release it (`goesOn`). */
function standsStill(isMeant: (group: string, sql: string) => boolean) {
  const [stands, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  before = async (group, { sql }) => {
    if (!isMeant(group, sql)) return;
    before = () => undefined;
    stands.resolve();
    await goesOn.promise;
  };
  return { stands: stands.promise, goesOn: goesOn.resolve };
}

it('a mover that stands still before it decides, decides nothing once another has opened the shard again', async () => {
  await using mover = await openMover(store, 'trips');
  const { from, to } = await followed(mover);
  const { stands, goesOn } = standsStill((group, sql) => group === to && sql.startsWith('RENAME'));
  const stop = mover.start();
  await mover.operations.switchMove({ shard: SHARD });
  await stands;
  const move = await mover.read(SHARD);
  const taken = await resumed(move, from, to);
  expect(taken.isDone).toBe(false);
  const since = cell('meanwhile');
  expect(await datastore.put(since)).toMatchObject({ outcome: 'stored' });
  const ending = stop();
  goesOn();
  await ending;
  expect((await mover.home(SHARD)).group).toBe(from);
  expect((await datastore.get(since)).cell?.body).toEqual(since.body);
  mover.start();
  await mover.switched(SHARD);
  expect((await datastore.get(since)).cell?.body).toEqual(since.body);
  await completed(mover);
});

it('a move that has ended is not gone on with by who was at its switch', async () => {
  await using mover = await openMover(store, 'trips');
  const { from, to } = await followed(mover);
  const move = await mover.read(SHARD);
  await switched(mover);
  await completed(mover);
  const late = resumed({ ...move, step: 'switching', epoch: (await mover.home(SHARD)).epoch }, from, to);
  await expect(late).rejects.toMatchObject({ code: 'unavailable' });
  expect((await datastore.heads())[SHARD]).toMatchObject({ group: to });
});

/** Reverses a switched move and completes it. */
async function takenBack(mover: Mover): Promise<void> {
  mover.start();
  await mover.switched(SHARD);
  await mover.operations.reverseMove({ shard: SHARD });
  await mover.switched(SHARD, 2);
  await mover.complete(SHARD);
}

it('a switch that stood still takes no table away while its move is completed', async () => {
  await using mover = await openMover(store, 'trips');
  const { from, to } = await followed(mover);
  const { context, topologyTable } = store;
  const [source, target] = await Promise.all([context.groups.client(from), context.groups.client(to)]);
  const write = async (move: Move): Promise<void> => void (await writeMove(mover.stateTable, move));
  const move: Move = { ...(await mover.read(SHARD)), step: 'switching', epoch: (await mover.home(SHARD)).epoch + 1 };
  const switching = { context, topologyTable, settings: { closedMs: 30_000 }, tellMoved: () => undefined, write };
  const { stands, goesOn } = standsStill(
    (group, sql) => group === from && sql.startsWith('RENAME') && sql.includes('fence$'),
  );
  const late = switchShard(switching, move, { source, target }).catch((error: unknown) => error);
  await stands;
  // The worst moment: what is dropped was seen to be empty.
  before = async (group, { sql }) => {
    if (group !== from || !sql.startsWith('DROP DATABASE')) return;
    goesOn();
    await late;
  };
  await takenBack(mover);
  expect(await late).not.toMatchObject({ isDone: true });
  expect(await mover.home(SHARD)).toMatchObject({ group: from });
  expect(await datastore.put(cell('after'))).toMatchObject({ outcome: 'stored' });
});

it('who finishes a switch and stands still takes no table away after its move was reversed and completed', async () => {
  await using mover = await openMover(store, 'trips');
  const { from, to } = await followed(mover);
  const move = await mover.read(SHARD);
  await switched(mover);
  // As a promoted replica that has forgotten of their new names.
  const [shard, copy] = [shardDatabase(name, SHARD), copyDatabase(name, SHARD)];
  const tables = await store
    .client(from)
    .select(
      { sql: 'SELECT table_name FROM information_schema.tables WHERE table_schema = ?', parameters: [copy] },
      'writer',
    );
  const renames = tables.map(([table]) => `\`${copy}\`.\`${toText(table)}\` TO \`${shard}\`.\`${toText(table)}\``);
  await change(from, `RENAME TABLE ${renames.join(', ')}`);
  const { stands, goesOn } = standsStill((group, sql) => group === from && sql.startsWith('RENAME'));
  const late = resumed({ ...move, step: 'switching', epoch: (await mover.home(SHARD)).epoch }, from, to);
  await stands;
  await takenBack(mover);
  goesOn();
  await expect(late).rejects.toBeInstanceOf(SqlError);
  expect(await datastore.put(cell('after'))).toMatchObject({ outcome: 'stored' });
});

/** Takes a switch back, and stops before it reopens the shard. */
async function takesBack(mover: Mover, from: string, to: string) {
  const { stands, goesOn } = standsStill((group, sql) => group === from && sql.includes("SET state = 'open'"));
  const move = await mover.read(SHARD);
  const switching: Move = { ...move, step: 'switching', epoch: (await mover.home(SHARD)).epoch + 1 };
  const ended = resumed(switching, from, to).catch((error: unknown) => error);
  await stands;
  return { ended, goesOn };
}

it('a switch that was taken back opens no shard that a later one closed', async () => {
  await using mover = await openMover(store, 'trips');
  const { from, to } = await followed(mover);
  const late = await takesBack(mover, from, to);
  const { stands: closed, goesOn: decides } = standsStill((group, sql) => group === to && sql.startsWith('RENAME'));
  const stop = mover.start();
  await mover.operations.switchMove({ shard: SHARD });
  await closed;
  late.goesOn();
  await late.ended;
  // Where it was stored it would be lost with the former home.
  expect(await datastore.put(cell('between'))).toMatchObject({ outcome: 'buffered' });
  decides();
  await mover.switched(SHARD);
  await stop();
  await completed(mover);
});

it('a switch that was taken back takes no name from the shard once it has moved for good', async () => {
  await using mover = await openMover(store, 'trips');
  const { from, to } = await followed(mover);
  const known = cell('stays');
  expect(await datastore.put(known)).toMatchObject({ outcome: 'stored' });
  const late = await takesBack(mover, from, to);
  await switched(mover);
  // The worst moment: what is dropped was seen to be empty.
  before = async (group, { sql }) => {
    if (group !== to || !sql.startsWith('DROP DATABASE')) return;
    late.goesOn();
    await late.ended;
  };
  await completed(mover);
  late.goesOn();
  expect(await late.ended).toMatchObject({ code: 'unavailable' });
  expect((await datastore.get(known)).cell?.body).toEqual(known.body);
  expect(await datastore.put(cell('after'))).toMatchObject({ outcome: 'stored' });
});

it('a switch that stood still before it closes the shard closes it for nobody once its move was cancelled', async () => {
  await using mover = await openMover(store, 'trips');
  const { from, to } = await followed(mover);
  const { stands, goesOn } = standsStill((group, sql) => group === from && sql.includes("SET state = 'moving'"));
  const { context, topologyTable } = store;
  const [source, target] = await Promise.all([context.groups.client(from), context.groups.client(to)]);
  const move: Move = { ...(await mover.read(SHARD)), step: 'switching', epoch: (await mover.home(SHARD)).epoch + 1 };
  const switching = { context, topologyTable, settings: {}, tellMoved: () => undefined, write: async () => undefined };
  const late = switchShard(switching, move, { source, target });
  await stands;
  mover.start();
  await mover.operations.cancelMove({ shard: SHARD });
  await mover.until(SHARD, ({ step }) => step === 'cancelled');
  goesOn();
  expect(await late).toMatchObject({ isDone: false });
  expect(await datastore.put(cell('after'))).toMatchObject({ outcome: 'stored' });
});

it('who mends the names of a shard and stands still gives its former home none once it has moved', async () => {
  await using mover = await openMover(store, 'trips');
  const { from, to } = await followed(mover);
  const [shard, copy] = [shardDatabase(name, SHARD), copyDatabase(name, SHARD)];
  const under = async (database: string): Promise<readonly string[]> => {
    const sql =
      "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name NOT LIKE 'fence%'";
    const rows = await store.client(from).select({ sql, parameters: [database] }, 'writer');
    return rows.map(([table]) => toText(table));
  };
  // As a promoted replica that has forgotten that they came back.
  await change(from, `CREATE DATABASE IF NOT EXISTS \`${copy}\``);
  const renames = (await under(shard)).map((table) => `\`${shard}\`.\`${table}\` TO \`${copy}\`.\`${table}\``);
  await change(from, `RENAME TABLE ${renames.join(', ')}`);
  const { stands, goesOn } = standsStill((group, sql) => group === from && sql.startsWith('RENAME'));
  const { context, topologyTable } = store;
  const [source, target] = await Promise.all([context.groups.client(from), context.groups.client(to)]);
  const [move, home] = [await mover.read(SHARD), await mover.home(SHARD)];
  const late = mendNames({ context, topologyTable }, move, home, { source, target });
  await stands;
  await switched(mover);
  goesOn();
  await expect(late).rejects.toBeInstanceOf(SqlError);
  expect(await under(shard)).toEqual([]);
  expect(await datastore.put(cell('after'))).toMatchObject({ outcome: 'stored' });
  await completed(mover);
});

it('a move that is to be dropped although it was decided is finished', async () => {
  await using mover = await openMover(store, 'trips');
  const { to } = await followed(mover);
  const move = await mover.read(SHARD);
  await switched(mover);
  const { token } = await mover.read(SHARD);
  await writeMove(mover.stateTable, { ...move, step: 'dropping', token });
  mover.start();
  await mover.switched(SHARD);
  expect(await mover.home(SHARD)).toMatchObject({ group: to });
  expect(await datastore.put(cell('after'))).toMatchObject({ outcome: 'stored' });
  await mover.complete(SHARD);
});

it('a row of the shard that was left behind with a higher epoch is gone beyond', async () => {
  await using mover = await openMover(store, 'trips');
  const { to } = await followed(mover);
  const { epoch } = await mover.home(SHARD);
  await change(
    to,
    `REPLACE INTO schemaless.shard (datastore, shard, epoch, state, step) VALUES ('${name}', ${SHARD}, ${epoch + 7}, 'arriving', 1)`,
  );
  await switched(mover);
  expect((await mover.home(SHARD)).epoch).toBe(epoch + 8);
  expect(await datastore.put(cell('after'))).toMatchObject({ outcome: 'stored' });
  await completed(mover);
});

it('a copy that lacks many entries keeps none whose tombstone is gone', async () => {
  await using mover = await openMover(store, 'trips');
  await datastore.put(cell('kept'));
  const { from, to } = await followed(mover);
  const [catalogue] = await store.topology.indexes(name);
  const table = `\`${indexTableName('by_city', catalogue?.versions.at(-1)?.hash ?? '')}\``;
  const [there, copy] = [shardDatabase(name, SHARD), copyDatabase(name, SHARD)].map(
    (database) => `\`${database}\`.${table}`,
  );
  await change(
    to,
    `INSERT INTO ${copy} (f0, row_key, epoch, added_id, tombstone_at) SELECT 'z-erased', row_key, epoch, added_id, NULL FROM ${copy} WHERE f0 = 'kept'`,
  );
  const many = Array.from({ length: 2700 }, (_, n) => `('m${n}', X'${n.toString(16).padStart(32, '0')}', 1, 1, NULL)`);
  // The RDS Data API takes statements of 64 KB.
  for (let at = 0; at < many.length; at += 900)
    await change(
      from,
      `INSERT INTO ${there} (f0, row_key, epoch, added_id, tombstone_at) VALUES ${many.slice(at, at + 900).join(', ')}`,
    );
  await writeMove(mover.stateTable, { ...(await mover.read(SHARD)), indexed: [], indexed_at: 0 });
  await switched(mover);
  expect((await datastore.query({ index: 'by_city', where: [eq('city', 'z-erased')] })).entries).toEqual([]);
  await change(to, `DELETE FROM ${there} WHERE f0 LIKE 'm%'`);
  await completed(mover);
});

it('a write whose shard moves to the group that holds its copy gets another copy before it is confirmed', async () => {
  await using mover = await openMover(store, 'trips');
  const { from, to, third } = await followed(mover);
  let isAway = true;
  let isFirst = true;
  before = async (group, { sql }) => {
    if (isAway && group === third && sql.includes('`schemaless`.buffer')) throw new SqlError('unreachable', 'away');
    if (!isFirst || group !== from || !sql.startsWith(`INSERT INTO \`${shardDatabase(name, SHARD)}\``)) return;
    isFirst = false;
    await switched(mover);
    isAway = false;
  };
  const moving = cell('moving');
  expect(await datastore.put(moving)).toMatchObject({ outcome: 'stored' });
  expect((await mover.home(SHARD)).group).toBe(to);
  const copies = 'SELECT COUNT(*) FROM `schemaless`.buffer WHERE row_key = ?';
  const copiesOn = async (group: string): Promise<number> =>
    toNumber(await valueOf(group, copies, [rowKeyBytes(moving.row_key)]));
  expect(await copiesOn(to)).toBe(1);
  // Any other will do, the former primary among them.
  expect((await copiesOn(from)) + (await copiesOn(third))).toBe(1);
  before = () => undefined;
  await completed(mover);
});

it('entries that the former shard alone was given are brought to the shard', async () => {
  await using mover = await openMover(store, 'trips');
  const known = cell('known');
  await datastore.put(known);
  const { from } = await followed(mover);
  const [catalogue] = await store.topology.indexes(name);
  const table = indexTableName('by_city', catalogue?.versions.at(-1)?.hash ?? '');
  // As whoever has not heard of the copy writes one, long after entries were copied.
  await change(
    from,
    `INSERT INTO \`${shardDatabase(name, SHARD)}\`.\`${table}\` (f0, row_key, epoch, added_id, tombstone_at) SELECT 'late', row_key, epoch, added_id, NULL FROM \`${shardDatabase(name, SHARD)}\`.\`${table}\` WHERE f0 = 'known'`,
  );
  await switched(mover);
  mover.start();
  const late = () => datastore.query({ index: 'by_city', where: [eq('city', 'late')] });
  await expect.poll(async () => (await late()).entries.map(({ row_key }) => row_key)).toEqual([known.row_key]);
  await completed(mover);
});

it('entries of a former shard that was away for long are compared with the cells in place of being brought', async () => {
  await using mover = await openMover(store, 'trips');
  const known = cell('kept');
  await datastore.put(known);
  const { from } = await followed(mover);
  await switched(mover);
  const [catalogue] = await store.topology.indexes(name);
  const table = indexTableName('by_city', catalogue?.versions.at(-1)?.hash ?? '');
  const copy = `\`${copyDatabase(name, SHARD)}\`.\`${table}\``;
  // Its tombstone is purged where the shard is.
  await change(
    from,
    `INSERT INTO ${copy} (f0, row_key, epoch, added_id, tombstone_at) SELECT 'purged', row_key, epoch, added_id, NULL FROM ${copy} WHERE f0 = 'kept'`,
  );
  const { epoch } = await mover.home(SHARD);
  // It was decided so long ago, and settled just now.
  const closed_at = Date.now() - 86_400_000; // Clock: a day ago, by the clock of the mover
  await writeMove(mover.stateTable, { ...(await mover.read(SHARD)), owed: [table], closed_at });
  mover.start();
  await expect.poll(async () => (await mover.read(SHARD)).owed).toEqual([]);
  expect((await datastore.query({ index: 'by_city', where: [eq('city', 'purged')] })).entries).toEqual([]);
  expect((await verifiedEpochs(mover.stateTable, name, [SHARD]))(SHARD)).toBe(epoch - 1);
  await completed(mover);
});

it('what a promoted replica has forgotten of a move is mended: names, and the row of the shard', async () => {
  await using mover = await openMover(store, 'trips');
  const { from } = await followed(mover);
  const [shard, copy] = [shardDatabase(name, SHARD), copyDatabase(name, SHARD)];
  const tables = async (group: string, database: string): Promise<number> =>
    toNumber(await valueOf(group, 'SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ?', [database]));
  await change(from, `CREATE DATABASE IF NOT EXISTS \`${copy}\``);
  await change(from, `RENAME TABLE \`${shard}\`.entity TO \`${copy}\`.entity`);
  // A reader answers until the change has reached it.
  const codeOfRead = (): Promise<unknown> =>
    datastore.getLatest({ row_key: randomUUID(), column_name: 'BASE' }).then(
      () => 'answered',
      (error: unknown) => Object(error).code,
    );
  await expect.poll(codeOfRead).toBe('unavailable');
  // It was the only one that lay there: the index's table, too.
  const index = toText(
    await valueOf(from, 'SELECT table_name FROM information_schema.tables WHERE table_schema = ?', [shard]),
  );
  await change(from, `RENAME TABLE \`${shard}\`.\`${index}\` TO \`${copy}\`.\`${index}\``);
  await change(from, `DELETE FROM schemaless.shard WHERE datastore = '${name}'`);
  const stop = mover.start();
  await expect.poll(() => tables(from, shard)).toBe(2);
  const state = `SELECT state FROM schemaless.shard WHERE datastore = '${name}'`;
  await expect.poll(async () => toText(await valueOf(from, state))).toBe('open');
  // It takes nothing before it was asked what it lacks: that is the drain's.
  expect(toNumber(await valueOf(from, `SELECT writer_id FROM schemaless.shard WHERE datastore = '${name}'`))).toBe(0);
  await change(from, `UPDATE schemaless.shard SET writer_id = @@server_id WHERE datastore = '${name}'`);
  await stop();
  await switched(mover);
  await completed(mover);
});

it('cells of a copy that nobody knows of are taken back, and take no place of the log', async () => {
  await using mover = await openMover(store, 'trips');
  const { to } = await followed(mover);
  const head = (await datastore.digest({ shard: SHARD })).at;
  const copy = copyDatabase(name, SHARD);
  await change(
    to,
    `INSERT INTO \`${copy}\`.entity SELECT ${head + 1}, UNHEX(REPLACE(UUID(), '-', '')), column_name, ref_key, body, created_at FROM \`${copy}\`.entity WHERE added_id = 1`,
  );
  await switched(mover);
  expect((await datastore.digest({ shard: SHARD })).at).toBe(head);
  expect(await datastore.put(cell('next'))).toMatchObject({ outcome: 'stored', added_id: head + 1 });
  await completed(mover);
});

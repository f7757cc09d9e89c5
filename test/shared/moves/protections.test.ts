import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rowKeyBytes, copyDatabase, shardDatabase } from '../../../shared/address.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { indexTableName } from '../../../shared/index/index-table.ts';
import { verifiedEpochs } from '../../../shared/index/repair/verified-epochs.ts';
import { hasEnded, writeMove, type Move } from '../../../shared/moves/move-item.ts';
import { repairNames, renameAll, tablesOf } from '../../../shared/moves/shard-tables.ts';
import { resumeSwitch, switchShard } from '../../../shared/moves/switch-shard.ts';
import { toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { SqlError, type SqlClient, type SqlValue, type Statement } from '../../../shared/sql/client.ts';
import { indexOn } from '../../support/index-on.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { openMover, tablesOn, type Mover } from './support.ts';

/*
 * What a switch is guarded by, each shown by what it is for. One shard: a test moves it on from where the one before
 * has
 * left it.
 */
const SHARD = 0;
/** Done before a statement goes to a group; for one test. */
let before: (group: string, statement: Statement) => Promise<void> | void = () => undefined;
let mover: Mover;
beforeEach(async () => {
  mover = await openMover(store, 'trips');
});
afterEach(async () => {
  before = () => undefined;
  await using _ends = mover;
  await over();
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
const cell = (city: string): NewCell => ({ row_key: randomUUID(), column_name: 'BASE', ref_key: 1, body: { city } });
const first = cell('first');
await datastore.put(first);
const [shard, copy] = [shardDatabase(name, SHARD), copyDatabase(name, SHARD)];
const [catalogue] = await store.topology.indexes(name);
/** Of the index. */
const table = indexTableName('by_city', catalogue?.versions.at(-1)?.hash ?? '');

async function valueOf(group: string, sql: string, parameters: Statement['parameters'] = []): Promise<SqlValue> {
  const [[value = null] = []] = await store.client(group).select({ sql, parameters }, 'writer');
  return value;
}

const change = (group: string, sql: string) => store.client(group).change({ sql, parameters: [] });

/** Gives a database one more entry of the first cell, under another city. */
const plant = (group: string, database: string, city: string) =>
  change(
    group,
    `INSERT INTO \`${database}\`.\`${table}\` (f0, row_key, epoch, added_id, tombstone_at) SELECT '${city}', row_key, epoch, added_id, NULL FROM \`${database}\`.\`${table}\` WHERE f0 = 'first'`,
  );
const rowsOf = async (city: string) =>
  (await datastore.query({ index: 'by_city', where: { city } })).entries.map(({ row_key }) => row_key);
const bodyOf = async (one: NewCell) => (await datastore.get(one)).cell?.body;

/** A move whose copy follows, and that no mover works on: where it goes from and to, and a third group. */
async function followed() {
  const { group: from } = await mover.home(SHARD);
  const [to, third] = await mover.others(SHARD);
  await mover.follow(SHARD, to);
  const { context, topologyTable } = store;
  const [source, target] = await Promise.all([context.groups.client(from), context.groups.client(to)]);
  const clients = { source, target };
  const switching = { context, topologyTable, settings: {}, tellMoved: () => undefined, write: async () => undefined };
  return {
    from,
    to,
    third,
    clients,
    switching,
    /** The move at its next switch. */
    async atSwitch(): Promise<Move> {
      return { ...(await mover.read(SHARD)), step: 'switching', epoch: (await mover.home(SHARD)).epoch + 1 };
    },
    /** Goes on with the switch of a move, as a mover that took over. */
    resumed: (move: Move) => resumeSwitch(switching, move, clients),
  };
}

/** Shows that the shard takes writes, and completes the move. */
async function over(): Promise<void> {
  expect(await datastore.put(cell('after'))).toMatchObject({ outcome: 'stored' });
  if (!hasEnded(await mover.read(SHARD))) await completed();
}

async function switched(): Promise<void> {
  const stop = mover.start();
  await mover.operations.switchMove({ shard: SHARD });
  await mover.switched(SHARD);
  await stop();
}

async function completed(): Promise<void> {
  const stop = mover.start();
  await mover.complete(SHARD);
  await stop();
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

/** Does something at the worst moment: what is dropped on a group was seen to be empty. */
function beforeDrop(of: string, run: () => Promise<unknown>): void {
  before = async (group, { sql }) => {
    if (group === of && sql.startsWith('DROP DATABASE')) await run();
  };
}

it('a mover that pauses before it decides, decides nothing once another has opened the shard again', async () => {
  const { from, to, resumed } = await followed();
  const { stands, goesOn } = standsStill((group, sql) => group === to && sql.startsWith('RENAME'));
  const stop = mover.start();
  await mover.operations.switchMove({ shard: SHARD });
  await stands;
  expect((await resumed(await mover.read(SHARD))).isDone).toBe(false);
  const since = cell('meanwhile');
  expect(await datastore.put(since)).toMatchObject({ outcome: 'stored' });
  const ending = stop();
  goesOn();
  await ending;
  expect((await mover.home(SHARD)).group).toBe(from);
  expect(await bodyOf(since)).toEqual(since.body);
  mover.start();
  await mover.switched(SHARD);
  expect(await bodyOf(since)).toEqual(since.body);
});

it('a move that has ended is not continued by a mover that was at its switch', async () => {
  const { to, resumed } = await followed();
  const move = await mover.read(SHARD);
  await switched();
  await completed();
  const late = resumed({ ...move, step: 'switching', epoch: (await mover.home(SHARD)).epoch });
  await expect(late).rejects.toMatchObject({ code: 'unavailable' });
  expect((await datastore.heads())[SHARD]).toMatchObject({ group: to });
});

/** Reverses a switched move and completes it. */
async function takenBack(): Promise<void> {
  mover.start();
  await mover.switched(SHARD);
  await mover.operations.reverseMove({ shard: SHARD });
  await mover.switched(SHARD, 2);
  await mover.complete(SHARD);
}

it('a switch that paused removes no table while its move is completed', async () => {
  const moving = await followed();
  const { from, clients } = moving;
  const write = async (move: Move): Promise<void> => void (await writeMove(mover.stateTable, move));
  const switching = { ...moving.switching, settings: { closedMs: 30_000 }, write };
  const { stands, goesOn } = standsStill(
    (group, sql) => group === from && sql.startsWith('RENAME') && sql.includes('fence$'),
  );
  const late = switchShard(switching, await moving.atSwitch(), clients).catch((error: unknown) => error);
  await stands;
  beforeDrop(from, () => (goesOn(), late));
  await takenBack();
  expect(await late).not.toMatchObject({ isDone: true });
  expect(await mover.home(SHARD)).toMatchObject({ group: from });
});

it('a mover that pauses at the end of a switch removes no table after its move was reversed and completed', async () => {
  const { from, resumed } = await followed();
  const move = await mover.read(SHARD);
  await switched();
  // As a promoted replica that has forgotten of their new names.
  await renameAll(store.client(from), copy, shard);
  const { stands, goesOn } = standsStill((group, sql) => group === from && sql.startsWith('RENAME'));
  const late = resumed({ ...move, step: 'switching', epoch: (await mover.home(SHARD)).epoch });
  await stands;
  await takenBack();
  goesOn();
  await expect(late).rejects.toBeInstanceOf(SqlError);
});

/** Takes a switch back, and stops before it reopens the shard. */
async function takesBack({ from, atSwitch, resumed }: Awaited<ReturnType<typeof followed>>) {
  const { stands, goesOn } = standsStill((group, sql) => group === from && sql.includes("SET state = 'open'"));
  const ended = resumed(await atSwitch()).catch((error: unknown) => error);
  await stands;
  return { ended, goesOn };
}

it('a switch that was taken back opens no shard that a later one closed', async () => {
  const moving = await followed();
  const { to } = moving;
  const late = await takesBack(moving);
  const { stands: closed, goesOn: decides } = standsStill((group, sql) => group === to && sql.startsWith('RENAME'));
  const stop = mover.start();
  await mover.operations.switchMove({ shard: SHARD });
  await closed;
  late.goesOn();
  await late.ended;
  // A stored cell would be lost with the former home.
  expect(await datastore.put(cell('between'))).toMatchObject({ outcome: 'buffered' });
  decides();
  await mover.switched(SHARD);
  await stop();
});

it('a switch that was taken back takes no name from the shard once it has moved for good', async () => {
  const moving = await followed();
  const { to } = moving;
  const known = cell('stays');
  expect(await datastore.put(known)).toMatchObject({ outcome: 'stored' });
  const late = await takesBack(moving);
  await switched();
  beforeDrop(to, () => (late.goesOn(), late.ended));
  await completed();
  late.goesOn();
  expect(await late.ended).toMatchObject({ code: 'unavailable' });
  expect(await bodyOf(known)).toEqual(known.body);
});

it('a switch that paused before it closes the shard leaves it open once its move was cancelled', async () => {
  const { from, clients, switching, atSwitch } = await followed();
  const { stands, goesOn } = standsStill((group, sql) => group === from && sql.includes("SET state = 'moving'"));
  const late = switchShard(switching, await atSwitch(), clients);
  await stands;
  mover.start();
  await mover.operations.cancelMove({ shard: SHARD });
  await mover.until(SHARD, ({ step }) => step === 'cancelled');
  goesOn();
  expect(await late).toMatchObject({ isDone: false });
});

it('a repair of names that pauses gives the former home of a shard none once it has moved', async () => {
  const { from, clients, switching } = await followed();
  // As a promoted replica that has forgotten that they came back.
  await change(from, `CREATE DATABASE IF NOT EXISTS \`${copy}\``);
  await renameAll(store.client(from), shard, copy);
  const { stands, goesOn } = standsStill((group, sql) => group === from && sql.startsWith('RENAME'));
  const late = repairNames(switching, await mover.read(SHARD), await mover.home(SHARD), clients);
  await stands;
  await switched();
  goesOn();
  await expect(late).rejects.toBeInstanceOf(SqlError);
  expect(await tablesOf(store.client(from), shard)).toEqual([]);
});

it('a move that is to be dropped although it was decided is finished', async () => {
  const { to } = await followed();
  const move = await mover.read(SHARD);
  await switched();
  const { token } = await mover.read(SHARD);
  await writeMove(mover.stateTable, { ...move, step: 'dropping', token });
  mover.start();
  await mover.switched(SHARD);
  expect(await mover.home(SHARD)).toMatchObject({ group: to });
});

it('a row of the shard that was left behind with a higher epoch is gone beyond', async () => {
  const { to } = await followed();
  const { epoch } = await mover.home(SHARD);
  await change(
    to,
    `REPLACE INTO schemaless.shard (datastore, shard, epoch, state, step) VALUES ('${name}', ${SHARD}, ${epoch + 7}, 'arriving', 1)`,
  );
  await switched();
  expect((await mover.home(SHARD)).epoch).toBe(epoch + 8);
});

it('a copy that lacks many entries keeps none whose tombstone is gone', async () => {
  const { from, to } = await followed();
  await plant(to, copy, 'z-erased');
  const many = Array.from({ length: 2700 }, (_, n) => `('m${n}', X'${n.toString(16).padStart(32, '0')}', 1, 1, NULL)`);
  // The RDS Data API takes statements of 64 KB.
  for (let at = 0; at < many.length; at += 900)
    await change(
      from,
      `INSERT INTO \`${shard}\`.\`${table}\` (f0, row_key, epoch, added_id, tombstone_at) VALUES ${many.slice(at, at + 900).join(', ')}`,
    );
  await writeMove(mover.stateTable, { ...(await mover.read(SHARD)), indexed: [], indexed_at: 0 });
  await switched();
  expect(await rowsOf('z-erased')).toEqual([]);
  await change(to, `DELETE FROM \`${shard}\`.\`${table}\` WHERE f0 LIKE 'm%'`);
});

it('a write whose shard moves to the group that holds its copy gets another copy before it is confirmed', async () => {
  const { from, to, third } = await followed();
  let isUnavailable = true;
  let isFirst = true;
  before = async (group, { sql }) => {
    if (isUnavailable && group === third && sql.includes('`schemaless`.buffer'))
      throw new SqlError('unreachable', 'unavailable');
    if (!isFirst || group !== from || !sql.startsWith(`INSERT INTO \`${shard}\``)) return;
    isFirst = false;
    await switched();
    isUnavailable = false;
  };
  const written = cell('moving');
  expect(await datastore.put(written)).toMatchObject({ outcome: 'stored' });
  expect((await mover.home(SHARD)).group).toBe(to);
  const copies = 'SELECT COUNT(*) FROM `schemaless`.buffer WHERE row_key = ?';
  const copiesOn = async (group: string): Promise<number> =>
    toNumber(await valueOf(group, copies, [rowKeyBytes(written.row_key)]));
  expect(await copiesOn(to)).toBe(1);
  // Any other will do, the former primary among them.
  expect((await copiesOn(from)) + (await copiesOn(third))).toBe(1);
});

it('entries that the former shard alone was given are brought to the shard', async () => {
  const { from } = await followed();
  // As a writer that does not know of the copy writes one, long after entries were copied.
  await plant(from, shard, 'late');
  await switched();
  mover.start();
  await expect.poll(() => rowsOf('late')).toEqual([first.row_key]);
});

it('entries of a former shard that was unavailable for long are compared with the cells instead of copied', async () => {
  const { from } = await followed();
  await switched();
  // Its tombstone is purged where the shard is.
  await plant(from, copy, 'purged');
  const { epoch } = await mover.home(SHARD);
  // It was decided so long ago, and settled just now.
  const closed_at = Date.now() - 86_400_000; // Clock: a day ago, by the clock of the mover
  await writeMove(mover.stateTable, { ...(await mover.read(SHARD)), owed: [table], closed_at });
  mover.start();
  await expect.poll(async () => (await mover.read(SHARD)).owed).toEqual([]);
  expect(await rowsOf('purged')).toEqual([]);
  expect((await verifiedEpochs(mover.stateTable, name, [SHARD]))(SHARD)).toBe(epoch - 1);
});

it('names and the shard row that a promoted replica has lost in a move are repaired', async () => {
  const { from } = await followed();
  await change(from, `CREATE DATABASE IF NOT EXISTS \`${copy}\``);
  await change(from, `RENAME TABLE \`${shard}\`.entity TO \`${copy}\`.entity`);
  // A reader answers until the change has reached it.
  const codeOfRead = (): Promise<unknown> =>
    datastore.getLatest({ row_key: randomUUID(), column_name: 'BASE' }).then(
      () => 'answered',
      (error: unknown) => Object(error).code,
    );
  await expect.poll(codeOfRead).toBe('unavailable');
  // The index's table, too.
  await renameAll(store.client(from), shard, copy);
  await change(from, `DELETE FROM schemaless.shard WHERE datastore = '${name}'`);
  const stop = mover.start();
  await expect.poll(async () => (await tablesOn(store, from, shard)).length).toBe(2);
  const state = `SELECT state FROM schemaless.shard WHERE datastore = '${name}'`;
  await expect.poll(async () => toText(await valueOf(from, state))).toBe('open');
  // It takes nothing before it was asked what it lacks: that is the drain's.
  expect(toNumber(await valueOf(from, `SELECT writer_id FROM schemaless.shard WHERE datastore = '${name}'`))).toBe(0);
  await change(from, `UPDATE schemaless.shard SET writer_id = @@server_id WHERE datastore = '${name}'`);
  await stop();
  await switched();
});

it('unknown cells of a copy are removed, and use no added ids of the log', async () => {
  const { to } = await followed();
  const head = (await datastore.digest({ shard: SHARD })).at;
  await change(
    to,
    `INSERT INTO \`${copy}\`.entity SELECT ${head + 1}, UNHEX(REPLACE(UUID(), '-', '')), column_name, ref_key, body, created_at FROM \`${copy}\`.entity WHERE added_id = 1`,
  );
  await switched();
  expect((await datastore.digest({ shard: SHARD })).at).toBe(head);
  expect(await datastore.put(cell('next'))).toMatchObject({ outcome: 'stored', added_id: head + 1 });
});

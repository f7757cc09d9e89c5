import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewCell } from '../../../shared/cell.ts';
import type { Datastore, IndexOperations } from '../../../shared/contract/datastore.ts';
import { copyDatabase, shardDatabase, shardOf } from '../../../shared/address.ts';
import { readMove } from '../../../shared/moves/move-item.ts';
import { toNumber, toText } from '../../../shared/sql/cell-rows.ts';
import { SqlError } from '../../../shared/sql/client.ts';
import { openDeployment } from '../../../shared/store/deployment.ts';
import { dynamoTopology, readDatastore } from '../../../shared/topology/dynamo-topology.ts';
import { eq, indexOn } from '../../support/index-on.ts';
import { lookedUp } from '../../support/looked-up-together.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';
import { openMover, type Mover } from './support.ts';

const SHARDS = 3;
let store: RealStore;
let datastore: Datastore & IndexOperations;
let name: string;

beforeAll(async () => {
  store = await openRealStore({
    datastores: { moved: SHARDS },
    indexes: { moved: [indexOn('by_city', { city: 'string' })] },
  });
  name = store.nameOf('moved');
  datastore = await store.deployment.datastore(name);
});
afterAll(() => store.close());

/** A row of a shard, new with each call. */
function rowOf(shard: number): string {
  for (;;) {
    const row = randomUUID();
    if (shardOf(row, SHARDS) === shard) return row;
  }
}

function cellOf(shard: number, body: NewCell['body'] = { city: 'Berlin' }, ref_key = 1): NewCell {
  return { row_key: rowOf(shard), column_name: 'BASE', ref_key, body };
}

async function homeOf(shard: number) {
  const home = (await readDatastore(store.topologyTable, name))?.homes[shard];
  if (!home) throw new Error('no home');
  return home;
}

/** A group that holds neither the shard nor its copy. */
async function otherThan(shard: number): Promise<string> {
  const { group } = await homeOf(shard);
  return store.groups.map((one) => one.name).find((one) => one !== group) ?? '';
}

async function tablesOf(group: string, database: string): Promise<string[]> {
  const rows = await store
    .client(group)
    .select(
      { sql: 'SELECT table_name FROM information_schema.tables WHERE table_schema = ?', parameters: [database] },
      'writer',
    );
  return rows.map(([table]) => toText(table)).sort();
}

/** The epoch that the last switch took. One that is given up takes one, too: on a busy machine there may be some. */
async function epochOf({ stateTable }: Mover, shard: number): Promise<number> {
  const { move } = (await readMove(stateTable, { datastore: name, shard })) ?? {};
  if (!move) throw new Error('no move');
  return move.epoch;
}

async function moveTo(mover: Mover, shard: number, to: string) {
  await mover.operations.createMove(shard, to, { switch: true });
  return mover.until(shard, ({ switches, step }) => switches === 1 && step === 'following');
}

describe('a shard that is moved', () => {
  it('has the same log, the same entries and the same digest elsewhere, and takes writes there', async () => {
    await using mover = await openMover(store, 'moved');
    const cells = Array.from({ length: 30 }, (_, number) =>
      cellOf(0, { city: 'Rome', number, note: 'x'.repeat(number) }),
    );
    for (const cell of cells) await datastore.put(cell);
    const [before, digest, from] = [
      await datastore.log([{ shard: 0, after: 0 }]),
      await datastore.digest({ shard: 0 }),
      await homeOf(0),
    ];
    const to = await otherThan(0);
    mover.start();
    const moved = await moveTo(mover, 0, to);
    expect(moved).toMatchObject({ from: to, to: from.group, restarts: 0, last_error: null });
    const epoch = await epochOf(mover, 0);
    expect(epoch).toBeGreaterThan(from.epoch);
    expect(await homeOf(0)).toEqual({
      group: to,
      epoch,
      copy: { group: from.group, takesEntries: true, move: expect.any(String) as string },
    });
    expect((await datastore.log([{ shard: 0, after: 0 }])).map((log) => ('cells' in log ? log.cells : log))).toEqual(
      before.map((log) => ('cells' in log ? log.cells : log)),
    );
    expect((await datastore.digest({ shard: 0 })).digest).toBe(digest.digest);
    expect((await datastore.query({ index: 'by_city', where: [eq('city', 'Rome')], limit: 100 })).entries).toHaveLength(
      30,
    );
    const next = cellOf(0, { city: 'Rome' });
    expect(await datastore.put(next)).toMatchObject({ outcome: 'stored', added_id: digest.at + 1 });
    expect((await datastore.get(next)).cell?.body).toEqual(next.body);
    await mover.operations.completeMove(0);
    expect(await mover.until(0, ({ step }) => step === 'completed')).toMatchObject({ step: 'completed', switches: 1 });
    // A moment after the move says so.
    await expect.poll(() => homeOf(0)).toEqual({ group: to, epoch });
    expect(await tablesOf(from.group, copyDatabase(name, 0))).toEqual([]);
    expect(await tablesOf(from.group, shardDatabase(name, 0))).toEqual([]);
    expect(await tablesOf(to, shardDatabase(name, 0))).toHaveLength(2);
  });

  it('goes back with everything that was written since', async () => {
    await using mover = await openMover(store, 'moved');
    await datastore.put(cellOf(1));
    const from = await homeOf(1);
    mover.start();
    await moveTo(mover, 1, await otherThan(1));
    const since = Array.from({ length: 20 }, () => cellOf(1, { city: 'Oslo' }));
    for (const cell of since) expect(await datastore.put(cell)).toMatchObject({ outcome: 'stored' });
    await mover.operations.reverseMove(1);
    await mover.until(1, ({ switches, step }) => switches === 2 && step === 'following');
    const epoch = await epochOf(mover, 1);
    expect(epoch).toBeGreaterThanOrEqual(from.epoch + 2);
    expect(await homeOf(1)).toMatchObject({ group: from.group, epoch });
    for (const cell of since) expect((await datastore.get(cell)).cell?.body).toEqual(cell.body);
    expect((await datastore.query({ index: 'by_city', where: [eq('city', 'Oslo')], limit: 100 })).entries).toHaveLength(
      20,
    );
    await mover.operations.completeMove(1);
    await mover.until(1, ({ step }) => step === 'completed');
  });

  it('is found by who goes by an older topology: what that reads is the shard, and what it writes is stored there', async () => {
    await using mover = await openMover(store, 'moved');
    const stale = openDeployment({
      topology: dynamoTopology(store.topologyTable),
      connect: ({ name: group }) => store.client(group),
      bufferCopies: 1,
    });
    const old = await stale.datastore(name);
    const [cell, late] = [cellOf(2), cellOf(2, { city: 'Late' })];
    await old.put(cell);
    mover.start();
    await moveTo(mover, 2, await otherThan(2));
    const newer = cellOf(2);
    await datastore.put(newer);
    // Those that come together first: what is read once is known to all.
    const other = cellOf(0);
    expect(await lookedUp(old, [newer, other])).toMatchObject([{ cell: { body: newer.body } }, { cell: null }]);
    expect((await old.get(newer)).cell?.body).toEqual(newer.body);
    expect(await old.put(late)).toMatchObject({ outcome: 'stored' });
    expect((await datastore.get(late)).cell?.body).toEqual(late.body);
    expect((await old.log([{ shard: 2, after: 0 }]))[0]).toMatchObject({ shard: 2, stale: false });
    await mover.operations.completeMove(2);
    await mover.until(2, ({ step }) => step === 'completed');
  });

  it('is not moved while its copy differs, and the copy is made anew', async () => {
    await using mover = await openMover(store, 'moved');
    await datastore.put(cellOf(0));
    const to = await otherThan(0);
    const stop = mover.start();
    await mover.operations.createMove(0, to);
    await mover.until(0, ({ step }) => step === 'following');
    await stop();
    await store
      .client(to)
      .change({ sql: `UPDATE ${copyDatabase(name, 0)}.entity SET body = 'other' WHERE added_id = 1`, parameters: [] });
    mover.start();
    await mover.operations.verifyMove(0);
    const found = await mover.until(0, ({ restarts }) => restarts > 0);
    expect(found.switches).toBe(0);
    await mover.operations.switchMove(0);
    await mover.until(0, ({ switches, step }) => switches === 1 && step === 'following');
    const [log] = await datastore.log([{ shard: 0, after: 0 }]);
    expect(log && 'cells' in log && log.cells[0]?.body).not.toBe('other');
    await mover.operations.completeMove(0);
    await mover.until(0, ({ step }) => step === 'completed');
  });

  it.each(['waiting', 'following'] as const)(
    'leaves nothing where it was to go when it is cancelled: %s',
    async (step) => {
      await using mover = await openMover(store, 'moved');
      await datastore.put(cellOf(1));
      const [before, to] = [await homeOf(1), await otherThan(1)];
      if (step === 'following') mover.start();
      await mover.operations.createMove(1, to);
      await mover.until(1, (status) => status.step === step);
      await mover.operations.cancelMove(1);
      mover.start();
      await mover.until(1, (status) => status.step === 'cancelled');
      await expect.poll(() => homeOf(1)).toEqual(before);
      expect(await tablesOf(to, copyDatabase(name, 1))).toEqual([]);
      expect(await datastore.put(cellOf(1))).toMatchObject({ outcome: 'stored' });
    },
  );

  it('keeps its copy where its group was set up anew, whatever is written there since', async () => {
    await using mover = await openMover(store, 'moved');
    for (let number = 0; number < 5; number += 1) await datastore.put(cellOf(2));
    const [{ group }, to] = [await homeOf(2), await otherThan(2)];
    const stop = mover.start();
    await mover.operations.createMove(2, to);
    const { copied } = await mover.until(2, ({ step, compared, head }) => step === 'following' && compared === head);
    await stop();
    const entity = (database: string): string => `\`${database}\`.entity`;
    for (const sql of [
      `DELETE FROM ${entity(shardDatabase(name, 2))}`,
      `UPDATE schemaless.shard SET head_epoch = NULL WHERE datastore = '${name}'`,
    ])
      await store.client(group).change({ sql, parameters: [] });
    const since = cellOf(2);
    expect(await datastore.put(since)).toMatchObject({ outcome: 'stored', added_id: 1 });
    mover.start();
    await mover.until(2, ({ last_error }) => last_error?.includes('nothing of what its copy') === true);
    const cells = await store
      .client(to)
      .select({ sql: `SELECT MAX(added_id) FROM ${entity(copyDatabase(name, 2))}`, parameters: [] }, 'writer');
    expect(toNumber(cells[0]?.[0])).toBe(copied);
    await mover.operations.cancelMove(2);
    await mover.until(2, ({ step }) => step === 'cancelled');
    expect((await datastore.get(since)).cell?.body).toEqual(since.body);
  });
});

describe('a mover that dies in the middle of a switch', () => {
  it('leaves a shard that another one moves, whichever statement was its last', async () => {
    await using mover = await openMover(store, 'moved');
    const written: NewCell[] = [];
    const write = async (): Promise<void> => {
      const cell = cellOf(2, { city: 'Dies' });
      expect(['stored', 'buffered']).toContain((await datastore.put(cell)).outcome);
      written.push(cell);
    };
    let isOver = false;
    for (let statement = 1; !isOver && statement < 60; statement += 1) {
      await write();
      await mover.operations.createMove(2, await otherThan(2));
      let stop = mover.start();
      await mover.until(2, ({ step }) => step === 'following');
      await stop();
      const dying = dyingContext(statement);
      stop = mover.start({ context: dying.context });
      await mover.operations.switchMove(2);
      await mover.until(2, ({ switches, step }) => (switches === 1 && step === 'following') || dying.isDead());
      await stop();
      isOver = !dying.isDead();
      await write();
      stop = mover.start();
      await mover.until(2, ({ switches, step }) => switches === 1 && step === 'following');
      await write();
      await mover.operations.completeMove(2);
      await mover.until(2, ({ step }) => step === 'completed');
      await stop();
      await write();
    }
    expect(isOver).toBe(true);
    await expect.poll(async () => (await homeOf(2)).copy).toBeUndefined();
    const home = await homeOf(2);
    const heads = await datastore.heads();
    expect(heads[2]).toMatchObject({ group: home.group });
  });

  /** The store's groups, which answer nothing any more from the nth statement of a switch on. */
  function dyingContext(statement: number) {
    let left = Number.POSITIVE_INFINITY;
    let isDead = false;
    const count = (): void => {
      left -= 1;
      if (left > 0) return;
      isDead = true;
      throw new SqlError('unreachable', 'the mover is dead');
    };
    const groups: RealStore['context']['groups'] = {
      ...store.context.groups,
      async client(group) {
        const client = await store.context.groups.client(group);
        return {
          ...client,
          abilities: client.abilities,
          nodes: client.nodes,
          select: async (select, target) => (count(), client.select(select, target)),
          async change(change) {
            if (change.sql.includes("'arriving', ?, ?, NULL)") && left === Number.POSITIVE_INFINITY) left = statement;
            count();
            return client.change(change);
          },
          close: async () => undefined,
        };
      },
    };
    return {
      context: { ...store.context, groups },
      isDead: () => isDead,
    };
  }
});

describe('what operators ask of a move', () => {
  it('is refused where its step does not allow it, and where there is none', async () => {
    await using mover = await openMover(store, 'moved');
    const { operations } = mover;
    const { group } = await homeOf(0);
    await expect(operations.move(0)).rejects.toMatchObject({ code: 'unknown_move' });
    await expect(operations.createMove(0, group)).rejects.toMatchObject({ code: 'move_refused' });
    await expect(operations.createMove(0, 'nowhere')).rejects.toMatchObject({
      code: 'invalid_field',
      details: { field: 'to' },
    });
    await expect(operations.createMove(99, group)).rejects.toMatchObject({ code: 'unknown_shard' });
    const to = await otherThan(0);
    const begun = await operations.createMove(0, to);
    expect(begun).toMatchObject({ shard: 0, from: group, to, step: 'waiting', switches: 0 });
    expect(await operations.createMove(0, to)).toEqual(begun);
    const third = store.groups.map((one) => one.name).find((one) => one !== group && one !== to) ?? '';
    await expect(operations.createMove(0, third)).rejects.toMatchObject({ code: 'move_refused' });
    await expect(operations.reverseMove(0)).rejects.toMatchObject({ code: 'move_refused' });
    await expect(operations.completeMove(0)).rejects.toMatchObject({ code: 'move_refused' });
    expect(await operations.moves()).toHaveLength(1);
    await operations.cancelMove(0);
    mover.start();
    await mover.until(0, ({ step }) => step === 'cancelled');
    await expect(operations.switchMove(0)).rejects.toMatchObject({ code: 'move_refused' });
    expect(await operations.moves()).toEqual([]);
  });
});

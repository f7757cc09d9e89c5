import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rowKeyBytes } from '../../../shared/address.ts';
import { encodeBody } from '../../../shared/body/codec.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { answerBuffered } from '../../../shared/sql/statements/answer-buffered.ts';
import { insertBuffered, type BufferedCell } from '../../../shared/sql/statements/insert-buffered.ts';
import type { BufferOperations, Datastore } from '../../../shared/contract/datastore.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { faults } from '../../support/faulty-client.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';

const SHARDS = 6;
const ANOTHER_SERVER = 4_294_000_000;
const broken = faults();

let store: RealStore;
let trips: Datastore & BufferOperations;
let primary: string;

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: SHARDS }, wrap: (client, group) => broken.wrap(client, group) });
  trips = await store.deployment.datastore(store.nameOf('trips'));
  primary = (await store.topology.datastore(store.nameOf('trips')))?.places[0]?.group ?? '';
});
afterEach(() => broken.behaviours.clear());
afterAll(() => store.close());

const newCell = (body: NewCell['body'] = 'body') => cellOf({ row_key: rowsOfShard(0, SHARDS, 1)[0] ?? '', body });
const rowsOf = (): SqlClient => store.client(primary);
const others = (): string[] => store.groups.map(({ name }) => name).filter((name) => name !== primary);

/** As after the promotion of a reader that had received all but these cells. */
async function promoteWithout(cells: readonly NewCell[]): Promise<void> {
  const entity = `\`${store.nameOf('trips')}_0000\`.entity`;
  for (const { row_key } of cells)
    await rowsOf().change({
      sql: `DELETE FROM ${entity} WHERE row_key = UNHEX(REPLACE(?, '-', ''))`,
      parameters: [row_key],
    });
  await rowsOf().change({
    sql: 'UPDATE schemaless.shard SET writer_id = ? WHERE datastore = ?',
    parameters: [ANOTHER_SERVER, store.nameOf('trips')],
  });
}

const bodyOf = async (cell: NewCell) => (await trips.get(cell)).cell?.body;

describe('a writer that is not known to have every acknowledged cell', () => {
  it('takes no appends until what it lacks was brought back, so that a cell that was stored keeps its address', async () => {
    const cell = newCell('acknowledged');
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promoteWithout([cell]);
    expect(await trips.put({ ...cell, body: 'another' })).toMatchObject({ outcome: 'buffered', copies: 2 });
    expect((await trips.batchPut([newCell(), newCell()])).map(({ outcome }) => outcome)).toEqual([
      'buffered',
      'buffered',
    ]);
    expect(await bodyOf(cell)).toBeUndefined();

    expect(await recoverPrimary(store.context, primary)).toEqual({ appended: 1, opened: 2, closed: [] });
    expect(await bodyOf(cell)).toBe('acknowledged');
    expect((await trips.put({ ...cell, body: 'another' })).outcome).toBe('conflict');
    expect((await trips.put(newCell())).outcome).toBe('stored');
    expect(await recoverPrimary(store.context, primary)).toBeUndefined();
  });

  it('gets back what was answered stored before what was answered buffered, though that was sent earlier', async () => {
    const cell = newCell('answered stored');
    await promoteWithout([]);
    expect((await trips.put({ ...cell, body: 'answered buffered' })).outcome).toBe('buffered');
    await recordThisServer();
    const early = newCell('answered buffered, alone');
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promoteWithout([cell]);
    expect((await trips.put(early)).outcome).toBe('buffered');

    await recover();
    expect(await bodyOf(cell)).toBe('answered stored');
    await drain();
    expect(await bodyOf(cell)).toBe('answered stored');
    expect(await bodyOf(early)).toBe('answered buffered, alone');
  });

  it('takes them again where it lacks the epoch of a shard, too, also when no cell of it is left', async () => {
    await rowsOf().change({ sql: 'DELETE FROM `' + store.nameOf('trips') + '_0000`.entity', parameters: [] });
    await promoteWithout([]);
    await rowsOf().change({
      sql: 'UPDATE schemaless.shard SET epoch = epoch - 1 WHERE datastore = ? AND shard = 0',
      parameters: [store.nameOf('trips')],
    });
    const cell = newCell('sent meanwhile');
    expect((await trips.put(cell)).outcome).toBe('buffered');

    expect(await recoverPrimary(store.context, primary)).toMatchObject({ opened: 2, closed: [] });
    expect((await trips.put(newCell())).outcome).toBe('stored');
  });

  it('says so while a group that may hold copies cannot be asked, and is not let off', async () => {
    const cell = newCell('acknowledged');
    await trips.put(cell);
    await promoteWithout([cell]);
    for (const group of others()) broken.behaviours.set(group, 'down');
    await expect(recoverPrimary(store.context, primary)).rejects.toMatchObject({ failure: 'unreachable' });
    broken.behaviours.clear();
    expect((await trips.put({ ...cell, body: 'another' })).outcome).toBe('buffered');
    await recoverPrimary(store.context, primary);
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('is told apart only where writes have copies elsewhere', async () => {
    await using alone = await uncopied();
    const [row] = await alone.store.client(primary).select(
      {
        sql: 'SELECT MAX(writer_id) FROM schemaless.shard WHERE datastore = ?',
        parameters: [alone.store.nameOf('alone')],
      },
      'writer',
    );
    expect(row).toEqual([null]);
  });
});

describe('a cell that was acknowledged and that the new writer refuses', () => {
  it('keeps its shard closed to appends until it is there, and no other shard', async () => {
    const [cell, elsewhere] = [newCell('acknowledged'), cellOf({ row_key: rowsOfShard(3, SHARDS, 1)[0] ?? '' })];
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promoteWithout([cell]);
    await refuseAppends(0);
    await recover();
    await takeAppends(0);
    expect((await trips.put({ ...cell, body: 'another' })).outcome).toBe('buffered');
    expect((await trips.put(elsewhere)).outcome).toBe('stored');
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
    expect((await trips.put(newCell())).outcome).toBe('stored');
  });

  it('is brought back with the time that it was restored with', async () => {
    const cell = newCell('acknowledged');
    const created_at = '2020-01-01T00:00:00.000001Z';
    await trips.batchRestore([{ ...cell, created_at }]);
    await promoteWithout([cell]);
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
    const waiting = await Promise.all(
      others().map((group) =>
        store.client(group).select(
          {
            sql: 'SELECT CAST(stored_at AS CHAR) FROM schemaless.buffer WHERE row_key = ?',
            parameters: [rowKeyBytes(cell.row_key)],
          },
          'writer',
        ),
      ),
    );
    expect(waiting.flat()).toEqual([['2020-01-01 00:00:00.000001']]);
  });

  it('is brought back though an earlier release had set its copy aside', async () => {
    const cell = newCell('acknowledged');
    await trips.put(cell);
    await promoteWithout([cell]);
    for (const group of others())
      await store.client(group).change({
        sql: "UPDATE schemaless.buffer SET state = 'parked', attempts = 5 WHERE row_key = ?",
        parameters: [rowKeyBytes(cell.row_key)],
      });
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });
});

describe('a write whose copy meets an older one of itself', () => {
  it.each([
    ['was damaged', "body = X'00'"],
    ['lost against another body that is gone since', "state = 'conflict'"],
    ['was set aside', "state = 'parked', attempts = 5"],
  ])('that %s, is brought back as any that was acknowledged', async (_what, change) => {
    const cell = newCell('acknowledged');
    const copy: BufferedCell = { ...cell, shard: 0, encoded: encodeBody(cell.body) };
    for (const group of others()) {
      await store.client(group).change(insertBuffered(store.nameOf('trips'), [copy]));
      await store.client(group).change({
        sql: `UPDATE schemaless.buffer SET answered = writers, ${change} WHERE row_key = ?`,
        parameters: [rowKeyBytes(cell.row_key)],
      });
    }
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promoteWithout([cell]);
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });
});

describe('two bodies at one address of which either may have been acknowledged', () => {
  /** A copy of a write that is still under way, or whose writer died. */
  const copied = (cell: NewCell): BufferedCell => ({ ...cell, shard: 0, encoded: encodeBody(cell.body) });
  const datastore = (): string => store.nameOf('trips');
  const holder = (): SqlClient => store.client(others()[0] ?? '');

  it('are not chosen between: the shard stays closed until one of them gives way', async () => {
    const cell = newCell('acknowledged');
    const under_way = copied({ ...cell, body: 'under way' });
    await holder().change(insertBuffered(datastore(), [under_way]));
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promoteWithout([cell]);
    await recover();
    expect(await bodyOf(cell)).toBeUndefined();
    expect((await trips.put(newCell())).outcome).toBe('buffered');

    await holder().change(answerBuffered(datastore(), [under_way]));
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('are one where they are equal, and only encoded in two ways', async () => {
    const cell = newCell({ a: 1, b: 2 });
    expect((await trips.put(cell)).outcome).toBe('stored');
    expect((await trips.put({ ...cell, body: { b: 2, a: 1 } })).outcome).toBe('stored_before');
    await promoteWithout([cell]);
    await recover();
    expect(await bodyOf(cell)).toEqual({ a: 1, b: 2 });
  });
});

const trigger = (shard: number): string => `\`${store.nameOf('trips')}_000${shard}\`.refuses`;
/** As a full tablespace, or rights that are missing: the server refuses the statement. */
async function refuseAppends(shard: number): Promise<void> {
  await rowsOf().change({
    sql: `CREATE TRIGGER ${trigger(shard)} BEFORE INSERT ON \`${store.nameOf('trips')}_000${shard}\`.entity FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`,
    parameters: [],
  });
}
async function takeAppends(shard: number): Promise<void> {
  await rowsOf().change({ sql: `DROP TRIGGER ${trigger(shard)}`, parameters: [] });
}
const recover = () => recoverPrimary(store.context, primary);
async function drain(): Promise<void> {
  for (const group of others())
    await drainPass(store.context, group, () => true, { minimumAgeSeconds: 0, appendsPerSecond: 1_000_000 });
}

async function recordThisServer(): Promise<void> {
  await rowsOf().change({
    sql: 'UPDATE schemaless.shard SET writer_id = @@server_id WHERE datastore = ?',
    parameters: [store.nameOf('trips')],
  });
}

async function uncopied() {
  const opened = await openRealStore({ datastores: { alone: 3 }, bufferCopies: 0 });
  return { store: opened, [Symbol.asyncDispose]: () => opened.close() };
}

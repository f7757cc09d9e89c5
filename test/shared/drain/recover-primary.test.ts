import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import type { BufferOperations, Datastore } from '../../../shared/store/datastore.ts';
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
  for (const { row_key } of cells) await rowsOf().change({ sql: `DELETE FROM ${entity} WHERE row_key = UNHEX(REPLACE(?, '-', ''))`, parameters: [row_key] });
  await rowsOf().change({ sql: 'UPDATE schemaless.shard SET writer_id = ? WHERE datastore = ?', parameters: [ANOTHER_SERVER, store.nameOf('trips')] });
}

const bodyOf = async (cell: NewCell) => (await trips.get(cell)).cell?.body;

describe('a writer that is not known to have every acknowledged cell', () => {
  it('takes no appends until what it lacks was brought back, so that a cell that was stored keeps its address', async () => {
    const cell = newCell('acknowledged');
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promoteWithout([cell]);
    expect(await trips.put({ ...cell, body: 'another' })).toMatchObject({ outcome: 'buffered', copies: 2 });
    expect((await trips.batchPut([newCell(), newCell()])).map(({ outcome }) => outcome)).toEqual(['buffered', 'buffered']);
    expect(await bodyOf(cell)).toBeUndefined();

    expect(await recoverPrimary(store.context, primary)).toBe(3);
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

    await recoverPrimary(store.context, primary);
    expect(await bodyOf(cell)).toBe('answered stored');
    expect(await bodyOf(early)).toBe('answered buffered, alone');
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
    const [row] = await alone.store.client(primary).select({ sql: 'SELECT MAX(writer_id) FROM schemaless.shard WHERE datastore = ?', parameters: [alone.store.nameOf('alone')] }, 'writer');
    expect(row).toEqual([null]);
  });
});

async function recordThisServer(): Promise<void> {
  await rowsOf().change({ sql: 'UPDATE schemaless.shard SET writer_id = @@server_id WHERE datastore = ?', parameters: [store.nameOf('trips')] });
}

async function uncopied() {
  const opened = await openRealStore({ datastores: { alone: 3 }, bufferCopies: 0 });
  return { store: opened, [Symbol.asyncDispose]: () => opened.close() };
}

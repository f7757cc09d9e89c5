import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeBody } from '../../../shared/body/codec.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { drainPass } from '../../support/drain-pass.ts';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import { undecidedSince } from '../../../shared/drain/undecided-since.ts';
import { releaseOpened } from '../../../shared/drain/release-undecided.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import type { BufferOperations, Datastore } from '../../../shared/contract/datastore.ts';
import { cellOf, rowsOfShard } from '../../support/datastore-conformance.ts';
import { openRealStore, type RealStore } from '../../support/real-store.ts';

const SHARDS = 6;
/** Several passes over what all files left, on a machine that may be busy. */
const PATIENT = { timeout: 15_000 };
const ANOTHER_SERVER = 4_294_000_000;
/** As long as requests live, in this test. */
const LIFE_MS = 1000;

let store: RealStore;
let trips: Datastore & BufferOperations;
let primary: string;
let others: string[];
let clock = 0;
const since = undecidedSince(LIFE_MS, () => clock);

beforeAll(async () => {
  store = await openRealStore({ datastores: { trips: SHARDS } });
  trips = await store.deployment.datastore(store.nameOf('trips'));
  primary = (await store.topology.datastore(store.nameOf('trips')))?.places[0]?.group ?? '';
  others = store.groups.map(({ name }) => name).filter((name) => name !== primary);
});
afterAll(() => store.close());

const newCell = (body: NewCell['body']) => cellOf({ row_key: rowsOfShard(0, SHARDS, 1)[0] ?? '', body });
const bodyOf = async (cell: NewCell) => (await trips.get(cell)).cell?.body;
const recover = () => recoverPrimary(store.context, primary, since);
const sumOf = async (what: 'undecided' | 'conflicts') =>
  (await trips.buffer()).reduce((sum, group) => sum + (group.error ? Number.NaN : group[what]), 0);

/** A copy each of two bodies, on one group each, whose writers died without a word; the new writer has neither. */
async function contested(): Promise<NewCell> {
  const cell = newCell('one');
  const datastore = store.nameOf('trips');
  for (const [place, body] of ['one', 'other'].entries()) {
    await store
      .client(others[place] ?? '')
      .change(insertBuffered(datastore, [{ ...cell, body, shard: 0, encoded: encodeBody(body) }]));
  }
  await store.client(primary).change({
    sql: 'UPDATE schemaless.shard SET writer_id = ? WHERE datastore = ?',
    parameters: [ANOTHER_SERVER, datastore],
  });
  return cell;
}

describe('two bodies at one address whose writers died', () => {
  it('are reported once no request can be under way any more, and stored as an operator says; the shard is closed until then', async () => {
    const cell = await contested();
    expect(await recover()).toMatchObject({ appended: 0, closed: [{ shard: 0 }] });
    clock += LIFE_MS - 1;
    await recover();
    expect((await trips.undecidedWrites()).undecided).toEqual([]);
    clock += 1;
    store.events.length = 0;
    await recover();
    await recover();
    expect(store.events.filter(({ kind }) => kind === 'undecided')).toEqual([
      {
        kind: 'undecided',
        datastore: store.nameOf('trips'),
        shard: 0,
        row_key: cell.row_key,
        column_name: cell.column_name,
        ref_key: cell.ref_key,
      },
    ]);
    const { undecided, next } = await trips.undecidedWrites();
    expect(undecided.map(({ body }) => body).sort()).toEqual(['one', 'other']);
    expect([next, await sumOf('undecided')]).toEqual([null, 2]);
    expect((await trips.put(newCell('meanwhile'))).outcome).toBe('buffered');
    expect(await bodyOf(cell)).toBeUndefined();

    await expect(trips.keepUndecided(undecided.map(({ id }) => id))).rejects.toMatchObject({
      code: 'invalid_field',
      details: { field: 'ids' },
    });
    await expect(trips.keepUndecided(['nonsense'])).rejects.toMatchObject({
      code: 'invalid_field',
      details: { field: 'ids[0]' },
    });
    const kept = undecided.find(({ body }) => body === 'other');
    expect(await trips.keepUndecided([kept?.id ?? ''])).toBe(1);
    expect(await recover()).toMatchObject({ appended: 1, opened: 1, closed: [] });
    expect(await bodyOf(cell)).toBe('other');
    expect((await trips.put(newCell('afterwards'))).outcome).toBe('stored');

    await expect
      .poll(async () => {
        for (const group of others) {
          await releaseOpened(store.context, group);
          await drainPass(store.context, group, () => true, { minimumAgeSeconds: 0, appendsPerSecond: 1_000_000 });
        }
        return [await sumOf('undecided'), await sumOf('conflicts')];
      }, PATIENT)
      .toEqual([0, 1]);
    const { conflicts } = await trips.bufferConflicts();
    expect(conflicts.map(({ body }) => body)).toEqual(['one']);
    await trips.discardConflicts(conflicts.map(({ id }) => id));
  });

  it('go back to the drain where the former writer, which has all that was acknowledged, is back', async () => {
    const cell = await contested();
    await recover();
    clock += LIFE_MS;
    await recover();
    expect(await sumOf('undecided')).toBe(2);
    await store.client(primary).change({
      sql: 'UPDATE schemaless.shard SET writer_id = @@server_id WHERE datastore = ?',
      parameters: [store.nameOf('trips')],
    });
    for (const group of others) await releaseOpened(store.context, group);
    expect(await sumOf('undecided')).toBe(0);
    for (const group of others)
      await drainPass(store.context, group, () => true, { minimumAgeSeconds: 0, appendsPerSecond: 1_000_000 });
    expect(await bodyOf(cell)).toBeDefined();
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { rowKeyBytes, shardDatabase } from '../../../shared/address.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import type { NewCell } from '../../../shared/cell.ts';
import type { SqlClient } from '../../../shared/sql/client.ts';
import { answerBuffered } from '../../../shared/sql/statements/change-buffered.ts';
import { insertBuffered } from '../../../shared/sql/statements/insert-buffered.ts';
import { PROTECTIONS } from '../../faults/without/protections.ts';
import { copyOf } from '../../support/copy-of.ts';
import { faults } from '../../support/faulty-client.ts';
import type { TopologySource } from '../../../shared/topology/topology.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { change, select } from '../../support/plain-sql.ts';
import { buffer, promote, recordWriter } from './support/promotion.ts';

const SHARDS = 6;
const broken = faults();
/** Off: a new writer's shards are opened though nothing was brought back. */
let isFenced = true;
const opened = await sharedTrips(SHARDS, {
  wrap: (client, group) => {
    const [fenced, unfenced] = [broken.wrap(client, group), PROTECTIONS.fence(broken.wrap(client, group))];
    const select: SqlClient['select'] = (...asked) => (isFenced ? fenced : unfenced).select(...asked);
    return { ...fenced, select };
  },
});
const { store, trips, name, primary, others, clientOf, entity, cellIn, bodyOf, holder } = opened;
afterEach(() => {
  isFenced = true;
  broken.behaviours.clear();
});

const newCell = (body: NewCell['body'] = 'body') => cellIn(0, { body });

describe('a writer that is not known to have every acknowledged cell', () => {
  it('takes no appends until what it lacks was brought back, so that a cell that was stored keeps its address', async () => {
    const cell = newCell('acknowledged');
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promote(opened, [cell]);
    expect(await trips.put({ ...cell, body: 'another' })).toMatchObject({ outcome: 'buffered', copies: 2 });
    expect((await trips.batchPut([newCell(), newCell()])).map(({ outcome }) => outcome)).toEqual([
      'buffered',
      'buffered',
    ]);
    expect(await bodyOf(cell)).toBeUndefined();

    expect(await recover()).toEqual({ appended: 1, opened: 2, closed: [] });
    expect(await bodyOf(cell)).toBe('acknowledged');
    expect((await trips.put({ ...cell, body: 'another' })).outcome).toBe('conflict');
    expect((await trips.put(newCell())).outcome).toBe('stored');
    expect(await recover()).toBeUndefined();
  });

  it('loses the address of what it lacks where its shards are opened before: the control', async () => {
    const cell = newCell('acknowledged');
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promote(opened, [cell]);
    isFenced = false;
    await recover();
    expect((await trips.put({ ...cell, body: 'another' })).outcome).toBe('stored');
    isFenced = true;
    await drain();
    expect(await bodyOf(cell)).toBe('another');
  });

  it('gets back what was answered stored before what was answered buffered, though that was sent earlier', async () => {
    const cell = newCell('answered stored');
    await promote(opened);
    expect((await trips.put({ ...cell, body: 'answered buffered' })).outcome).toBe('buffered');
    await recordWriter(opened);
    const early = newCell('answered buffered, alone');
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promote(opened, [cell]);
    expect((await trips.put(early)).outcome).toBe('buffered');

    await recover();
    expect(await bodyOf(cell)).toBe('answered stored');
    await drain();
    expect(await bodyOf(cell)).toBe('answered stored');
    expect(await bodyOf(early)).toBe('answered buffered, alone');
  });

  it('takes them again where it lacks the epoch of a shard, too, also when no cell of it is left', async () => {
    await change(clientOf(0), `DELETE FROM ${entity(0)}`);
    await promote(opened);
    const lacking = 'UPDATE schemaless.shard SET epoch = epoch - 1 WHERE datastore = ? AND shard = 0';
    await change(clientOf(0), lacking, name);
    expect((await trips.put(newCell('sent meanwhile'))).outcome).toBe('buffered');

    expect(await recover()).toMatchObject({ opened: 2, closed: [] });
    expect((await trips.put(newCell())).outcome).toBe('stored');
  });

  it('says so while a group that may hold copies cannot be asked, and is not let off', async () => {
    const cell = newCell('acknowledged');
    await trips.put(cell);
    await promote(opened, [cell]);
    for (const group of others) broken.behaviours.set(group, 'down');
    await expect(recover()).rejects.toMatchObject({ failure: 'unreachable' });
    broken.behaviours.clear();
    expect((await trips.put({ ...cell, body: 'another' })).outcome).toBe('buffered');
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('opens no shard that moved away a moment ago, whatever the cache tells', async () => {
    await promote(opened);
    let isNew = false;
    const { topology } = store.context;
    const moved: TopologySource = {
      ...topology,
      async datastore(datastore) {
        const known = await topology.datastore(datastore);
        const homes = known?.homes.map((home, shard) =>
          isNew && shard === 0 ? { ...home, group: others[0] ?? '' } : home,
        );
        return known && homes && { ...known, homes };
      },
      async renew() {
        isNew = true;
      },
    };
    expect(await recoverPrimary({ ...store.context, topology: moved }, primary)).toMatchObject({ opened: 1 });
    expect((await trips.put(newCell())).outcome).toBe('buffered');
    expect(await recover()).toMatchObject({ opened: 1 });
  });
});

describe('a cell that was acknowledged and that the new writer refuses', () => {
  it('keeps its shard closed to appends until it is there, and no other shard', async () => {
    const [cell, elsewhere] = [newCell('acknowledged'), cellIn(3)];
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promote(opened, [cell]);
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
    await trips.batchRestore([{ ...cell, created_at: '2020-01-01T00:00:00.000001Z' }]);
    await promote(opened, [cell]);
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
    const stored = 'SELECT CAST(stored_at AS CHAR) FROM schemaless.buffer WHERE row_key = ?';
    const waiting = await Promise.all(
      others.map((group) => select(store.client(group), stored, rowKeyBytes(cell.row_key))),
    );
    expect(waiting.flat()).toEqual([['2020-01-01 00:00:00.000001']]);
  });

  it('is brought back though its copy is parked', async () => {
    const cell = newCell('acknowledged');
    await trips.put(cell);
    await promote(opened, [cell]);
    const aside = "UPDATE schemaless.buffer SET state = 'parked', attempts = 5 WHERE row_key = ?";
    for (const group of others) await change(store.client(group), aside, rowKeyBytes(cell.row_key));
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });
});

describe('a write whose copy meets an older one of itself', () => {
  it.each([
    ['was damaged', "body = X'00'"],
    ['lost against another body that is gone since', "state = 'conflict'"],
    ['was set aside', "state = 'parked', attempts = 5"],
  ])('that %s, is brought back as any that was acknowledged', async (_what, how) => {
    const cell = newCell('acknowledged');
    const older = `UPDATE schemaless.buffer SET answered = writers, ${how} WHERE row_key = ?`;
    for (const group of others) {
      await buffer(opened, group, cell);
      await change(store.client(group), older, rowKeyBytes(cell.row_key));
    }
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promote(opened, [cell]);
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });
});

describe('two bodies at one address of which either may have been acknowledged', () => {
  it('are not chosen between: the shard stays closed until one of them gives way', async () => {
    const cell = newCell('acknowledged');
    const under_way = copyOf({ ...cell, body: 'under way' });
    await holder.change(insertBuffered(name, [under_way]));
    expect((await trips.put(cell)).outcome).toBe('stored');
    await promote(opened, [cell]);
    await recover();
    expect(await bodyOf(cell)).toBeUndefined();
    expect((await trips.put(newCell())).outcome).toBe('buffered');

    await holder.change(answerBuffered(name, [under_way]));
    await recover();
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('are one where they are equal, and only encoded in two ways', async () => {
    const cell = newCell({ a: 1, b: 2 });
    expect((await trips.put(cell)).outcome).toBe('stored');
    expect((await trips.put({ ...cell, body: { b: 2, a: 1 } })).outcome).toBe('stored_before');
    await promote(opened, [cell]);
    await recover();
    expect(await bodyOf(cell)).toEqual({ a: 1, b: 2 });
  });
});

const refusing = (shard: number): string => `\`${shardDatabase(name, shard)}\`.refuses`;
async function refuseAppends(shard: number): Promise<void> {
  await change(
    clientOf(shard),
    `CREATE TRIGGER ${refusing(shard)} BEFORE INSERT ON ${entity(shard)} FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`,
  );
}
const takeAppends = (shard: number) => change(clientOf(shard), `DROP TRIGGER ${refusing(shard)}`);
const recover = () => recoverPrimary(store.context, primary);
async function drain(): Promise<void> {
  for (const group of others) await drainAtOnce(store.context, group);
}

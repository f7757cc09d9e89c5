import { afterEach, describe, expect, it } from 'vitest';
import { inDoubtSince } from '../../../shared/drain/bring-back-shard.ts';
import { releaseOpened } from '../../../shared/drain/fenced-shards.ts';
import { recoverPrimary } from '../../../shared/drain/recover-primary.ts';
import type { NewCell } from '../../../shared/cell.ts';
import { SqlError, type SqlClient, type Statement } from '../../../shared/sql/client.ts';
import { writeGroups } from '../../../shared/topology/dynamo-topology.ts';
import { drainAtOnce } from '../../support/drain-pass.ts';
import { sharedTrips } from '../../support/open-trips.ts';
import { select } from '../../support/plain-sql.ts';
import { ANOTHER_SERVER, buffer, promote, recordWriter } from './support/promotion.ts';

const SHARDS = 6;
type Instead = (group: string, statement: Statement, run: () => Promise<never>) => Promise<never>;
const nothingInstead: Instead = (_group, _statement, run) => run();
let instead = nothingInstead;

const opened = await sharedTrips(SHARDS, {
  wrap: (client, group): SqlClient => ({
    ...client,
    select: (statement, target) => instead(group, statement, () => client.select(statement, target) as Promise<never>),
  }),
});
const { store, trips, name, primary, others, clientOf, cellIn, bodyOf } = opened;
afterEach(() => {
  instead = nothingInstead;
});
const recover = () => recoverPrimary(store.context, primary);

/** As after the promotion of a reader that lacks a new cell, of which only the copies on these groups know. */
async function promoteLacking(hintHolders = others): Promise<NewCell> {
  const cell = cellIn(0, { body: 'acknowledged' });
  for (const group of hintHolders) await buffer(opened, group, cell);
  await promote(opened);
  return cell;
}
const recoveredBody = async (cell: NewCell) => (await recover(), bodyOf(cell));

describe('a promoted writer that lacks a cell', () => {
  it('gets it from a group that was added a moment ago, which no cache knows', async () => {
    const [added = '', known = ''] = others;
    const table = store.topologyTable;
    const all = await store.topology.groups();
    const before = all.filter(({ name }) => name !== added);
    await writeGroups(table, before);
    store.topology.refresh();
    expect((await store.topology.groups()).map(({ name }) => name)).toContain(known);
    await writeGroups(table, all);
    const cell = await promoteLacking([added]);
    // A first poll may find the new group without its address yet: then nothing is opened.
    await expect.poll(async () => (await recover().catch(() => undefined))?.opened).toBe(2);
    expect(await bodyOf(cell)).toBe('acknowledged');
  });

  it('stays closed while the topology does not say which groups there are', async () => {
    const cell = await promoteLacking();
    const all = await store.topology.groups();
    await writeGroups(store.topologyTable, []);
    await expect(recover()).rejects.toMatchObject({ code: 'unavailable' });
    await writeGroups(store.topologyTable, all);
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('gets it from another group where the first has lost its copy in the meantime', async () => {
    const cell = await promoteLacking();
    const [first] = others;
    // Gone between the read of the list and the read of its body.
    instead = (group, { sql }, run) =>
      group === first && sql.includes(', body, created_at') ? (Promise.resolve([]) as Promise<never>) : run();
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('is not opened by what another server shows', async () => {
    expect((await trips.put(cellIn(0, { body: 'acknowledged' }))).outcome).toBe('stored');
    await promote(opened);
    instead = async (group, { sql }, run) => {
      const rows: readonly (readonly unknown[])[] = await run();
      return (
        group === primary && sql.startsWith('SELECT -1 AS list')
          ? rows.map(([list, value, ...address]) => [list, Number(list) < 0 ? Buffer.from('77') : value, ...address])
          : rows
      ) as never;
    };
    expect(await recover()).toMatchObject({ opened: 1, closed: [{ shard: 0 }] });
    instead = nothingInstead;
    expect(await recover()).toMatchObject({ opened: 1 });
  });

  it('is not opened by the word of a group that takes no writes itself: it may lack copies', async () => {
    const cell = await promoteLacking();
    // As a former writer answers on a connection that was opened when it was one.
    instead = async (group, { sql }, run) => {
      const rows: readonly (readonly unknown[])[] = await run();
      return (
        group !== primary && sql.includes('SELECT page.id')
          ? rows.filter(([id]) => Number(id) === 0).map(([id, datastore, , ...rest]) => [id, datastore, 0, ...rest])
          : rows
      ) as never;
    };
    await expect(recover()).rejects.toThrow('takes no writes');
    instead = nothingInstead;
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('stays closed where a copy is gone from everywhere as it is fetched, for an unknown reason', async () => {
    const cell = await promoteLacking();
    instead = (_group, { sql }, run) =>
      sql.includes(', body, created_at') ? (Promise.resolve([]) as Promise<never>) : run();
    expect(await recover()).toMatchObject({ closed: [{ shard: 0 }] });
    instead = nothingInstead;
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('is not mistaken for the former writer when a server is rebuilt under the old id', async () => {
    const [serverId] = (await select(clientOf(0), 'SELECT @@server_id'))[0] ?? [];
    const cell = await promoteLacking();
    instead = (group, _statement, run) =>
      group === primary ? run() : Promise.reject(new SqlError('unreachable', 'down'));
    await expect(recover()).rejects.toThrow('down');
    // A server rebuilt under the old id would find this record.
    const counting = 'SELECT COUNT(*) FROM schemaless.shard WHERE datastore = ? AND writer_id IN (?, ?)';
    const [row] = await select(clientOf(0), counting, name, ANOTHER_SERVER, Number(serverId));
    expect(Number(row?.[0])).toBe(0);
    instead = nothingInstead;
    expect(await recoveredBody(cell)).toBe('acknowledged');
  });

  it('costs its own shard its opening, and no other one, where no connection is free for it', async () => {
    await promoteLacking();
    instead = (group, { sql, parameters }, run) =>
      group !== primary && sql.includes('SELECT page.id') && parameters[1] === 0
        ? Promise.reject(new SqlError('unreachable', 'no connection free', { poolExhausted: true }))
        : run();
    expect(await recover()).toMatchObject({ opened: 1, closed: [{ shard: 0, reason: 'no connection free' }] });
    instead = nothingInstead;
    expect(await recover()).toMatchObject({ opened: 1 });
  });
});

const LIFE_MS = 1000;
let clock = 0;
const since = inDoubtSince(LIFE_MS, () => clock);
const recoverSince = () => recoverPrimary(store.context, primary, { since });
const cellOfBody = (body: string) => cellIn(0, { body });
const sumOf = async (what: 'in_doubt' | 'conflicts') =>
  (await trips.getBuffer()).groups.reduce((sum, group) => sum + ('error' in group ? Number.NaN : group[what]), 0);

async function contested(): Promise<NewCell> {
  const cell = cellOfBody('one');
  await buffer(opened, others[0], cell);
  await buffer(opened, others[1], { ...cell, body: 'other' });
  await promote(opened);
  return cell;
}

describe('two bodies at one address whose writers died', () => {
  it('are reported once no request can be under way any more, and stored as an operator says; the shard is closed until then', async () => {
    const cell = await contested();
    expect(await recoverSince()).toMatchObject({ appended: 0, closed: [{ shard: 0 }] });
    clock += LIFE_MS - 1;
    await recoverSince();
    expect((await trips.listWritesInDoubt()).in_doubt).toEqual([]);
    clock += 1;
    store.events.length = 0;
    await recoverSince();
    await recoverSince();
    const { row_key, column_name, ref_key } = cell;
    expect(store.events.filter(({ kind }) => kind === 'in_doubt')).toEqual([
      { kind: 'in_doubt', datastore: name, shard: 0, row_key, column_name, ref_key },
    ]);
    const { in_doubt, next } = await trips.listWritesInDoubt();
    expect(in_doubt.map(({ body }) => body).sort()).toEqual(['one', 'other']);
    expect([next, await sumOf('in_doubt')]).toEqual([null, 2]);
    expect((await trips.put(cellOfBody('meanwhile'))).outcome).toBe('buffered');
    expect(await bodyOf(cell)).toBeUndefined();

    for (const [field, ids] of [['ids', in_doubt.map(({ id }) => id)] as const, ['ids[0]', ['nonsense']] as const])
      await expect(trips.keepWritesInDoubt({ ids })).rejects.toMatchObject({ code: 'invalid_field', field });
    const kept = in_doubt.find(({ body }) => body === 'other');
    expect(await trips.keepWritesInDoubt({ ids: [kept?.id ?? ''] })).toEqual({ kept: 1 });
    expect(await recoverSince()).toMatchObject({ appended: 1, opened: 1, closed: [] });
    expect(await bodyOf(cell)).toBe('other');
    expect((await trips.put(cellOfBody('afterwards'))).outcome).toBe('stored');

    await expect
      .poll(async () => {
        for (const group of others) {
          await releaseOpened(store.context, group);
          await drainAtOnce(store.context, group);
        }
        return [await sumOf('in_doubt'), await sumOf('conflicts')];
      })
      .toEqual([0, 1]);
    const { conflicts } = await trips.listBufferConflicts();
    expect(conflicts.map(({ body }) => body)).toEqual(['one']);
    await trips.discardBufferConflicts({ ids: conflicts.map(({ id }) => id) });
  });

  it('go back to the drain where the former writer, which has all that was acknowledged, is back', async () => {
    const cell = await contested();
    await recoverSince();
    clock += LIFE_MS;
    await recoverSince();
    expect(await sumOf('in_doubt')).toBe(2);
    await recordWriter(opened);
    for (const group of others) await releaseOpened(store.context, group);
    expect(await sumOf('in_doubt')).toBe(0);
    for (const group of others) await drainAtOnce(store.context, group);
    expect(await bodyOf(cell)).toBeDefined();
  });
});

const [one, other] = [Buffer.from('one'), Buffer.from('other')];

/** Polls after some time; a first poll has seen one body. */
function polls() {
  let now = 0;
  const since = inDoubtSince(30_000, () => now);
  const first = since.poll();
  first.hasWaited('trips/1', one);
  first.end();
  return (milliseconds: number) => ((now += milliseconds), since.poll());
}

describe('the time that bodies have waited at an address', () => {
  it('is that of each body: one that came a moment ago may still be under way', () => {
    const second = polls()(30_000);
    expect([second.hasWaited('trips/1', one), second.hasWaited('trips/1', other)]).toEqual([true, false]);
  });

  it('goes on after a poll that broke off before the address, and restarts after a complete one', () => {
    const [brokenOff, whole] = [polls(), polls()];
    brokenOff(15_000);
    expect(brokenOff(15_000).hasWaited('trips/1', one)).toBe(true);
    whole(15_000).end();
    expect(whole(15_000).hasWaited('trips/1', one)).toBe(false);
  });
});
